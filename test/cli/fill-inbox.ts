import { createHash } from "node:crypto";
import { join } from "node:path";
import type { NewEvent } from "../../src/index.js";
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
export async function fillInbox(fillings: readonly Filling[]): Promise<string> {
  const path = join(tempFiles(), "signals.db");
  const store = sqliteStore(path);
  await store.open({ endpoint: "default" });
  const accepts = fillings.map(newEvent);
  const { accepts: accepted } = await store.commit({ settlements: [], accepts, claim: null });
  const settlements = fillings.flatMap(({ state, reason }, index) => {
    const seq = accepted[index]?.seq ?? 0;
    const now = Date.now();
    const settled = { seq, token: 1, dueAt: now, settledAt: now, attempts: 20, possiblyRepeated: false };
    return state === "dead" ? [{ ...settled, state, lastError: reason ?? "the queue is down" }] : [];
  });
  await store.commit({ settlements, accepts: [], claim: null });
  await store.close("default");
  return path;
}

function newEvent({ state = "done", body: content = "{}", ageDays = 0, ...event }: Filling): NewEvent {
  const body = Buffer.from(content as string);
  const at = Date.now() - ageDays * DAY_MS;
  return {
    endpoint: "default",
    type: "signal.published",
    received: { at, headers: { "content-type": "application/json", "x-service-signature": "t=1,v1=f00d" } },
    dueAt: state === "dead" ? at + DAY_MS : at,
    bodyHash: createHash("sha256").update(body).digest(),
    reason: null,
    ...event,
    // An event becomes dead by a settlement, so it has to be leased first.
    state: state === "dead" ? "leased" : state,
    body,
  };
}
