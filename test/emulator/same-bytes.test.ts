import { join } from "node:path";
import { expect, test } from "vitest";
import { SIGNAL_TYPES } from "../../src/kit/senders/signals/signal-types.js";
import { createManualClock } from "../../src/kit/testing/index.js";
import { openDatabase } from "../../src/service/emulator/database/open-database.js";
import { serveEndpoint } from "../unit/service/emulator/webhooks/webhook-world.js";
import { tempFolder } from "../unit/temp-folder.js";
import { openEmulator } from "./start-emulator.js";

/**
 * Every signal of a month, as it was sent, on a machine that takes so long to look at its clock.
 */
async function monthOfSignals(url: string, lookMs: number): Promise<Map<string, string>> {
  const db = join(tempFolder(), "emulator.db");
  const clock = createManualClock();
  const busy = { ...clock, now: () => (clock.setNow(clock.now() + lookMs), clock.now()) };
  const options = { db, clock: busy, seed: 7, startAt: "2026-11-01T00:00:00Z" };
  const { emulator, ask, account } = await openEmulator({
    ...options,
    assumptions: { allowLoopbackHttp: true },
  });
  const { accountId, key } = await account("pro");
  const { body } = await ask("/research/rankings?limit=50&min_traffic=0", { key });
  const slugs = (body["items"] as { slug: string }[]).map(({ slug }) => slug);
  await emulator.control.follow({ account_id: accountId, slugs });
  for (const signal_types of [SIGNAL_TYPES.slice(0, 30), SIGNAL_TYPES.slice(30)]) {
    await ask("/alerts/webhooks", { key, body: { url, signal_types } });
  }
  await emulator.control.settle();
  await emulator.control.advance({ to: "2026-12-15T00:00:00Z" });
  await emulator.close();

  const database = openDatabase(db);
  const events = database.rows<{ event_id: string; body: Buffer }>(
    "SELECT event_id, body FROM event WHERE type = 'signal.published'",
  );
  database.close();
  return new Map(events.map(({ event_id, body: bytes }) => [event_id, bytes.toString()]));
}

test("the same seed and start give every signal the same bytes, however fast the machine is", async () => {
  const { url } = await serveEndpoint();
  const [fast, slow] = [await monthOfSignals(url, 0), await monthOfSignals(url, 3)];
  expect(fast.size).toBeGreaterThan(20);
  expect(slow).toEqual(fast);
});
