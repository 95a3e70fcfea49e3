import { strictEqual } from "node:assert/strict";
import { createHash } from "node:crypto";
import type {
  Batch,
  BatchResult,
  ClaimedEvent,
  ClaimRequest,
  ClaimResult,
  CrashedEvent,
  EventState,
  InboxStore,
  NewEvent,
  Settlement,
  StoredEvent,
} from "../../inbox/store.js";

/** Where the stores of one case keep their events. */
export interface ContractMedium {
  /** Makes a store on this medium. After a close, a new store finds the events of the old one. */
  createStore(): InboxStore;
  /**
   * Makes a second store on the same medium, as in another process. Omit it if that is not supported: the cases then use one
   * store for both processes.
   */
  createSibling?(): InboxStore;
  /**
   * Reads an event from the medium as it would be found if the process died now. Omit it for a store that is not durable.
   */
  readBack?(endpoint: string, eventId: string): Promise<StoredEvent | undefined>;
  /** Called after the case, when its stores are closed. */
  destroy(): Promise<void>;
}

/** The argument of a case. */
export interface CaseContext {
  store: InboxStore;
  sibling: InboxStore;
  medium: ContractMedium;
  open(store: InboxStore): Promise<InboxStore>;
  readBack(endpoint: string, eventId: string): Promise<StoredEvent | undefined>;
}

/** A test of one guarantee. */
export interface StoreCase {
  guarantee: string;
  name: string;
  run(context: CaseContext): Promise<void>;
}

export function storeCase(guarantee: string, name: string, run: StoreCase["run"]): StoreCase {
  return { guarantee, name, run };
}

export const T0 = Date.UTC(2026, 0, 1);
export const ENDPOINT = "default";

export const HEADERS = { "content-type": "application/json" };

export function newEvent(eventId: string, over: Partial<NewEvent> = {}): NewEvent {
  const body = over.body ?? Buffer.from(`{"id":"${eventId}"}`);
  return {
    endpoint: ENDPOINT,
    eventId,
    type: "signal.published",
    state: "ready",
    dueAt: T0,
    received: { at: T0, headers: HEADERS },
    reason: null,
    ...over,
    body,
    bodyHash: createHash("sha256").update(body).digest(),
  };
}

export function commit(store: InboxStore, batch: Partial<Batch>): Promise<BatchResult> {
  return store.commit({ settlements: [], accepts: [], claim: null, ...batch });
}

export async function accept(store: InboxStore, eventId: string, over: Partial<NewEvent> = {}): Promise<number> {
  const { accepts } = await commit(store, { accepts: [newEvent(eventId, over)] });
  strictEqual(accepts[0]?.status, "accepted", `${eventId} was not accepted as new`);
  return accepts[0].seq;
}

/** A claim of events that are not suspects, unless `over` asks for suspects. */
export function claimRequest(over: Partial<ClaimRequest> = {}): ClaimRequest {
  const { now = T0 } = over;
  const leaseUntil = now + 60_000;
  return { endpoint: ENDPOINT, now, leaseUntil, limit: 10, held: new Set(), suspects: false, ...over };
}

export async function claim(store: InboxStore, over: Partial<ClaimRequest> = {}): Promise<ClaimResult> {
  const result = await commit(store, { claim: claimRequest(over) });
  if (result.claim === null) throw new Error("the result of a claim was null");
  return result.claim;
}

export async function claimOne(store: InboxStore, over: Partial<ClaimRequest> = {}): Promise<ClaimedEvent> {
  const { events } = await claim(store, { ...over, limit: 1 });
  if (events[0] === undefined) throw new Error("a claim returned no event");
  return events[0];
}

export async function settle(store: InboxStore, over: Partial<Settlement> & Pick<Settlement, "seq" | "token">) {
  const values = { dueAt: T0, settledAt: T0, attempts: 1, possiblyRepeated: false, lastError: null };
  const base = { ...values, state: "done" } as const;
  const { settlements } = await commit(store, { settlements: [{ ...base, ...over }] });
  return settlements[0];
}

/** Accepts an event and brings it into a state. */
export async function acceptAs(store: InboxStore, eventId: string, state: EventState): Promise<number> {
  const born = state === "quarantined" ? "quarantined" : state === "ready" ? "ready" : "leased";
  const reason = born === "quarantined" ? "not_json" : null;
  const seq = await accept(store, eventId, { state: born, dueAt: born === "leased" ? T0 + 60_000 : T0, reason });
  if (state === "done" || state === "dead")
    strictEqual(await settle(store, { seq, token: 1, state }), true, `${eventId} was not settled`);
  return seq;
}

export async function stateOf(store: InboxStore, eventId: string): Promise<string | undefined> {
  return (await store.get(ENDPOINT, eventId))?.state;
}

export async function takeOver(store: InboxStore, held: ReadonlySet<number>, now = T0): Promise<number> {
  const { freed } = await store.takeOver({ endpoint: ENDPOINT, now, held, crashed: true });
  return freed;
}

/**
 * Ends all leases as crashes. A shared store does this in a claim, which also leases events; these are given back.
 *
 * @returns the ids of the events that became dead
 */
export async function crash(store: InboxStore, now: number): Promise<string[]> {
  if (!store.shared) {
    return idsOf((await store.takeOver({ endpoint: ENDPOINT, now, held: new Set(), crashed: true })).dead);
  }
  const { events, dead } = await claim(store, { now, limit: 1 });
  for (const { seq, token, attempts, possiblyRepeated } of events) {
    await settle(store, { seq, token, state: "ready", dueAt: now, attempts, possiblyRepeated });
  }
  return idsOf(dead);
}

export function idsOf(events: readonly Pick<CrashedEvent, "eventId">[]): string[] {
  return events.map(({ eventId }) => eventId);
}
