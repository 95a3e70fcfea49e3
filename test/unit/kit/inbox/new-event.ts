import { createHash } from "node:crypto";
import type { Batch, ClaimRequest, NewEvent } from "../../../../src/kit/inbox/batch.js";
import type { Clock, InboxStore, SignalEvent } from "../../../../src/kit/index.js";
import { createManualClock, signalEvent } from "../../../../src/kit/testing/index.js";

export const T0 = Date.UTC(2026, 10, 21);

/** An event on its way into a store, with a sound signal as its body. */
export function newEvent(over: Partial<NewEvent> & { signal?: SignalEvent } = {}): NewEvent {
  const { signal = signalEvent(), ...rest } = over;
  const body = rest.body ?? Buffer.from(JSON.stringify(signal));
  return {
    eventId: signal.id,
    type: "signal.published",
    state: "ready",
    leaseMs: rest.state === "leased" ? 60_000 : null,
    received: { at: T0, headers: {} },
    reason: null,
    subtype: null,
    subject: null,
    sender: null,
    contentKey: null,
    possiblyRepeated: false,
    ...rest,
    body,
    bodyHash: createHash("sha256").update(body).digest(),
  };
}

/** A batch of the usual endpoint, if nothing else is said. */
export function batchOf(parts: Partial<Batch>): Batch {
  return { endpoint: "default", settlements: [], accepts: [], claim: null, ...parts };
}

/** A claim, if nothing else is said. */
export function claimOf(over: Partial<ClaimRequest> = {}): ClaimRequest {
  return { leaseMs: 60_000, limit: 10, held: [], ...over };
}

/** The store opened for a receiver that is not there yet. */
export async function opened<Store extends InboxStore>(
  store: Store,
  clock: Clock = createManualClock(T0),
): Promise<Store> {
  await store.open({ endpoint: "default", clock });
  return store;
}
