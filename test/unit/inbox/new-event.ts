import { createHash } from "node:crypto";
import type { ClaimRequest, InboxStore, NewEvent, SignalEvent } from "../../../src/index.js";
import { SUSPECT_CRASHES } from "../../../src/inbox/store.js";
import { signalEvent } from "../../../src/testing/index.js";

export const T0 = Date.UTC(2026, 10, 21);

/** An event on its way into a store, with a sound signal as its body. */
export function newEvent(over: Partial<NewEvent> & { signal?: SignalEvent } = {}): NewEvent {
  const { signal = signalEvent(), ...rest } = over;
  const body = rest.body ?? Buffer.from(JSON.stringify(signal));
  return {
    endpoint: "default",
    eventId: signal.id,
    type: "signal.published",
    state: "ready",
    dueAt: T0,
    received: { at: T0, headers: {} },
    reason: null,
    ...rest,
    body,
    bodyHash: createHash("sha256").update(body).digest(),
  };
}

/** The same, received and due at this time. */
export function newEventAt(now: number, over: Parameters<typeof newEvent>[0]): NewEvent {
  return newEvent({ dueAt: now, received: { at: now, headers: {} }, ...over });
}

/** Puts an event into an open store that was in flight at this many crashes, and is due at `dueAt`. */
export async function crashedEvent(store: InboxStore, crashes: number, dueAt = T0): Promise<string> {
  const event = newEvent({ state: "leased" });
  await store.commit({ settlements: [], accepts: [event], claim: null });
  for (let crash = 1; crash <= crashes; crash++) {
    const isLast = crash === crashes;
    // Due before all others in between, so that a claim finds it and nothing else.
    const before = T0 - 2;
    await store.takeOver({ endpoint: "default", now: isLast ? dueAt : before, held: new Set(), crashed: true });
    if (isLast) break;
    const claim = claimAt(before, { leaseUntil: T0, limit: 1, suspects: crash >= SUSPECT_CRASHES });
    const result = await store.commit({ settlements: [], accepts: [], claim });
    if (result.claim?.events[0]?.eventId !== event.eventId) throw new Error("another event was claimed");
  }
  return event.eventId;
}

/** A claim of events that are not suspects, if nothing else is said. */
export function claimAt(now: number, over: Partial<ClaimRequest> = {}): ClaimRequest {
  return { endpoint: "default", now, leaseUntil: now + 1, limit: 10, held: new Set(), suspects: false, ...over };
}

/** The store opened for a receiver that is not there yet. */
export async function opened<Store extends InboxStore>(store: Store): Promise<Store> {
  await store.open({ endpoint: "default" });
  return store;
}
