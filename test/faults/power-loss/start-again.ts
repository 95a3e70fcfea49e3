import { cpSync, existsSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { systemClock } from "../../../src/base/time/clock.js";
import { createReceiver } from "../../../src/kit/index.js";
import { sqliteStore } from "../../../src/kit/stores/sqlite/sqlite-store.js";
import { signalEvent, signedDelivery } from "../../../src/kit/testing/index.js";
import { readRows } from "../inbox-file.js";
import { SECRET } from "../sender.js";
import { judgeState, type Damage } from "./judge-state.js";
import { addMarks, begin, createLedger, type Ledger } from "./ledger.js";
import { INBOX, MARKS, type RecorderFolders } from "./recorder.js";

/** What the processes on the recorded files said up to now. */
export function ledgerOf({ recorded }: RecorderFolders): Ledger {
  const ledger = createLedger();
  const marks = join(recorded, MARKS);
  if (existsSync(marks)) addMarks(ledger, readFileSync(marks, "utf8"));
  return ledger;
}

/**
 * Starts a receiver on a copy of what a killed process left, and lets it hand off all that is there
 * and one event more.
 *
 * @returns what is not as it was promised, repeats included
 */
export async function damageAfterStart(
  folders: RecorderFolders,
): Promise<Damage & { repeated: string[] }> {
  const folder = join(folders.scratch, "copy");
  rmSync(folder, { recursive: true, force: true });
  cpSync(join(folders.recorded, dirname(INBOX)), join(folder, dirname(INBOX)), { recursive: true });
  const ledger = ledgerOf(folders);
  await handOffEverything(join(folder, INBOX), ledger);
  return { ...judgeState(folder, ledger), repeated: [...ledger.repeated] };
}

async function handOffEverything(path: string, ledger: Ledger): Promise<void> {
  const settled = new Set<string>();
  const checks = new Set<() => void>();
  let aheadMs = 0;
  const receiver = createReceiver({
    secrets: SECRET,
    store: sqliteStore(path),
    clock: { ...systemClock, now: () => systemClock.now() + aheadMs },
    ackTimeoutMs: 15_000,
    logger: false,
    onSignal: ({ id }, { possiblyRepeated }) => begin(ledger, id, possiblyRepeated),
  });
  function settle({ eventId }: { eventId: string }): void {
    settled.add(eventId);
    for (const check of checks) check();
  }
  receiver.on("handedOff", settle);
  // Five kills with the same event in hand: it stands visibly in `dead`.
  receiver.on("dead", settle);
  await receiver.start();

  const event = signalEvent();
  const { headers, body } = signedDelivery(event, { secret: SECRET });
  const lowerCased = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const { status } = await receiver.handle({ method: "POST", headers: lowerCased, body });
  expect(status).toBe(200);
  // An event that was in flight at several crashes waits for up to an hour.
  aheadMs = 2 * 3_600_000;

  const open = readRows(path).filter(({ state }) => state === "ready" || state === "leased");
  await new Promise<void>((resolve) => {
    const check = (): void => {
      if (open.every(({ event_id }) => settled.has(event_id))) resolve();
    };
    checks.add(check);
    check();
  });
  await receiver.close();
}
