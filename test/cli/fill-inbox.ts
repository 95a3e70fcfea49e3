import { createHash } from "node:crypto";
import { join } from "node:path";
import type { NewEvent, Settlement } from "../../src/index.js";
import { createManualClock } from "../../src/testing/index.js";
import { sqliteStore } from "../../src/stores/sqlite/sqlite-store.js";
import { tempFiles } from "./temp-files.js";

const DAY_MS = 24 * 60 * 60 * 1000;

export interface Filling extends Partial<Omit<NewEvent, "body" | "state">> {
  eventId: string;
  state?: NewEvent["state"] | "dead";
  body?: string | Uint8Array;
  /** Since when it is in its state. */
  ageDays?: number;
}

/** An inbox in a file, with these events, that no receiver has open. */
export async function fillInbox(fillings: readonly Filling[], endpoint = "default"): Promise<string> {
  const path = join(tempFiles(), "signals.db");
  const store = sqliteStore(path);
  const now = Date.now();
  const clock = createManualClock(now);
  await store.open({ endpoint, clock });
  const batch = { endpoint, settlements: [], accepts: [], claim: null };
  // Neighbours of one age are one batch. The age is that of the store's clock.
  for (let from = 0, to = 0; from < fillings.length; from = to) {
    const { ageDays = 0 } = fillings[from] as Filling;
    while (to < fillings.length && (fillings[to]?.ageDays ?? 0) === ageDays) to += 1;
    clock.setNow(now - ageDays * DAY_MS);
    const portion = fillings.slice(from, to);
    const accepts = portion.map((filling) => newEvent(filling, clock.now()));
    const accepted = (await store.commit({ ...batch, accepts })).accepts;
    clock.setNow(now);
    const settlements = portion.flatMap(({ state, reason }, index): Settlement[] => {
      const values = { token: 1, delayMs: 0, attempts: 20, possiblyRepeated: false };
      const lastError = reason ?? "the queue is down";
      return state === "dead" ? [{ seq: accepted[index]?.seq ?? 0, state, ...values, lastError }] : [];
    });
    await store.commit({ ...batch, settlements });
  }
  await store.close(endpoint);
  return path;
}

function newEvent({ state = "done", body: content = "{}", ageDays: _age, ...event }: Filling, at: number): NewEvent {
  const body = Buffer.from(content as string);
  return {
    type: "signal.published",
    received: { at, headers: { "content-type": "application/json", "x-service-signature": "t=1,v1=f00d" } },
    leaseMs: state === "dead" ? DAY_MS : null,
    bodyHash: createHash("sha256").update(body).digest(),
    reason: null,
    ...event,
    // An event becomes dead by a settlement, so it has to be leased first.
    state: state === "dead" ? "leased" : state,
    body,
  };
}
