import { createHash } from "node:crypto";
import type { Batch, ClaimRequest, Clock, InboxStore, NewEvent, Settlement, SignalEvent } from "../../../src/index.js";
import { SUSPECT_CRASHES } from "../../../src/inbox/store.js";
import { createManualClock, signalEvent } from "../../../src/testing/index.js";

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
    signalType: null,
    product: null,
    ...rest,
    body,
    bodyHash: createHash("sha256").update(body).digest(),
  };
}

/** A batch of the usual endpoint, if nothing else is said. */
export function batchOf(parts: Partial<Batch>): Batch {
  return { endpoint: "default", settlements: [], accepts: [], claim: null, ...parts };
}

/** A claim of events that are not suspects, if nothing else is said. */
export function claimOf(over: Partial<ClaimRequest> = {}): ClaimRequest {
  return { leaseMs: 60_000, limit: 10, held: [], suspects: false, ...over };
}

/** Puts an event into an open store that was in flight at this many crashes, and is due after this delay. */
export async function crashedEvent(store: InboxStore, crashes: number, delayMs = 0): Promise<string> {
  const crashed = newEvent({ state: "leased" });
  await store.commit(batchOf({ accepts: [crashed] }));
  for (let crash = 1; crash <= crashes; crash++) {
    await store.takeOver({ endpoint: "default", held: [], crashed: true });
    const isLast = crash === crashes;
    const claim = claimOf({ limit: 1e9, suspects: crash >= SUSPECT_CRASHES });
    const events = (await store.commit(batchOf({ claim }))).claim?.events ?? [];
    // What it must not hold any more is given back: the others, and at last the event itself.
    const settlements = events
      .filter(({ eventId }) => isLast || eventId !== crashed.eventId)
      .map(({ seq, token, attempts, possiblyRepeated, eventId }): Settlement => {
        const delay = eventId === crashed.eventId ? delayMs : 0;
        return { seq, token, state: "ready", delayMs: delay, attempts, possiblyRepeated, lastError: null };
      });
    await store.commit(batchOf({ settlements }));
  }
  return crashed.eventId;
}

/** The store opened for a receiver that is not there yet. */
export async function opened<Store extends InboxStore>(
  store: Store,
  clock: Clock = createManualClock(T0),
): Promise<Store> {
  await store.open({ endpoint: "default", clock });
  return store;
}
