import { ok, strictEqual } from "node:assert/strict";
import type {
  Batch,
  BatchResult,
  ClaimedEvent,
  ClaimRequest,
  ClaimResult,
  CrashedEvent,
  NewEvent,
  Settlement,
} from "../../../src/kit/inbox/batch.js";
import type { InboxStore } from "../../../src/kit/inbox/store.js";
import type { EventState, StoredEvent } from "../../../src/kit/inbox/stored-events.js";
import {
  batchOf,
  claimOf as claimRequest,
  newEvent as signalEvent,
} from "../../unit/kit/inbox/new-event.js";

/** Where the stores of one case keep their events. */
export interface ContractMedium {
  /** Makes a store on this medium. After a close, a new store finds the events of the old one. */
  createStore(): InboxStore;
  /**
   * Makes a second store on the same medium and with the same time, as in another process. Omit it
   * if that is not supported: the cases then use one store for both processes.
   */
  createSibling?(): InboxStore;
  /**
   * Reads an event from the medium as it would be found if the process died now. Omit it for a
   * store that is not durable.
   */
  readBack?(endpoint: string, eventId: string): Promise<StoredEvent | undefined>;
  /**
   * Moves the time of a store with a clock of its own forward, or back if `ms` is negative. Apart
   * from that, this time stands still. Omit it for a store that measures with the clock that `open`
   * is given: the cases then move that clock.
   */
  advance?(ms: number): void | Promise<void>;
  /**
   * Does to a store what SIGKILL would do to its process: it never reaches the medium again. For
   * stores with `leasedSince`, which also need `createSibling` and `advance`. `close` is still
   * called.
   */
  kill?(store: InboxStore): void | Promise<void>;
  /** For a store with `completeSql`. */
  execute?(sql: string): Promise<unknown>;
  /** Called after the case, when its stores are closed. */
  destroy(): Promise<void>;
}

/** The argument of a case. */
export interface CaseContext {
  store: InboxStore;
  sibling: InboxStore;
  medium: ContractMedium;
  /** Opens a store for {@link ENDPOINTS}. */
  open(store: InboxStore): Promise<InboxStore>;
  readBack(endpoint: string, eventId: string): Promise<StoredEvent | undefined>;
  /** Moves the time of the stores. */
  advance(ms: number): Promise<void>;
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

/**
 * When the events were received, by the clock of the process. The stores' clocks show other times.
 */
export const RECEIVED_AT = Date.UTC(2026, 0, 1);
export const ENDPOINT = "default";
export const SECOND = "second";
export const ENDPOINTS: readonly string[] = [ENDPOINT, SECOND];
export const LEASE_MS = 60_000;
export const DAY_MS = 24 * 60 * 60 * 1000;

export const HEADERS = { "content-type": "application/json" };

export function newEvent(eventId: string, over: Partial<NewEvent> = {}): NewEvent {
  return signalEvent({
    eventId,
    received: { at: RECEIVED_AT, headers: HEADERS },
    body: Buffer.from(`{"id":"${eventId}"}`),
    ...over,
  });
}

export function commit(store: InboxStore, batch: Partial<Batch>): Promise<BatchResult> {
  return store.commit(batchOf(batch));
}

/** The `seq` of an event, and the token of its lease. */
export type Lease = Pick<Settlement, "seq" | "token">;

export async function accept(
  store: InboxStore,
  eventId: string,
  over: Partial<NewEvent> = {},
  endpoint = ENDPOINT,
): Promise<Lease> {
  const { accepts } = await commit(store, { endpoint, accepts: [newEvent(eventId, over)] });
  strictEqual(accepts[0]?.status, "accepted", `${eventId} was not accepted as new`);
  const { seq, token } = accepts[0];
  strictEqual(token > 0, over.state === "leased", `${eventId} got a wrong token`);
  return { seq, token };
}

export { claimRequest };

export async function claim(
  store: InboxStore,
  over: Partial<ClaimRequest> = {},
  endpoint = ENDPOINT,
): Promise<ClaimResult> {
  const result = await commit(store, { endpoint, claim: claimRequest(over) });
  if (result.claim === null) throw new Error("the result of a claim was null");
  return result.claim;
}

export async function claimOne(
  store: InboxStore,
  over: Partial<ClaimRequest> = {},
): Promise<ClaimedEvent> {
  const { events } = await claim(store, { ...over, limit: 1 });
  if (events[0] === undefined) throw new Error("a claim returned no event");
  return events[0];
}

/** A settlement as `done`, unless `over` says otherwise. */
export function settlement({ seq, token }: Lease, over: Partial<Settlement> = {}): Settlement {
  const values = {
    delayMs: 0,
    attempts: 1,
    possiblyRepeated: false,
    lastError: null,
    receivedAt: RECEIVED_AT,
  };
  return { seq, token, state: "done", ...values, ...over };
}

export async function settle(store: InboxStore, lease: Lease, over: Partial<Settlement> = {}) {
  const { settlements } = await commit(store, { settlements: [settlement(lease, over)] });
  return settlements[0];
}

/** Accepts an event and brings it into a state. */
export async function acceptAs(
  store: InboxStore,
  eventId: string,
  state: EventState,
): Promise<Lease> {
  if (state === "ready" || state === "leased") return accept(store, eventId, { state });
  if (state === "quarantined") return accept(store, eventId, { state, reason: "not_json" });
  const lease = await accept(store, eventId, { state: "leased" });
  strictEqual(await settle(store, lease, { state }), true, `${eventId} was not settled`);
  return lease;
}

/** Accepts an event that is due after a delay. */
export async function acceptDelayed(
  store: InboxStore,
  eventId: string,
  delayMs: number,
): Promise<void> {
  const lease = await accept(store, eventId, { state: "leased" });
  await settle(store, lease, { state: "ready", delayMs });
}

export async function stateOf(store: InboxStore, eventId: string): Promise<string | undefined> {
  return (await store.get(ENDPOINT, eventId))?.state;
}

/**
 * @returns the stored time of an event: when it is due, when its lease expires, or since when it
 * has its state
 */
export async function dueAtOf(
  store: InboxStore,
  eventId: string,
  endpoint = ENDPOINT,
): Promise<number> {
  return (await store.get(endpoint, eventId))?.dueAt ?? NaN;
}

export async function reclaim(store: InboxStore, held: readonly number[]): Promise<number> {
  const { freed } = await store.reclaim({ endpoint: ENDPOINT, held, crashed: true });
  return freed;
}

/** How often the process died while it held this event. */
export async function crashesOf(store: InboxStore, eventId: string): Promise<number | undefined> {
  return (await store.get(ENDPOINT, eventId))?.crashes;
}

/**
 * Ends all leases as crashes. A shared store does this in a claim, which also leases events; these
 * are released.
 *
 * @returns the ids of the events that became dead
 */
export async function crash({ store, advance }: CaseContext): Promise<string[]> {
  if (!store.shared)
    return idsOf((await store.reclaim({ endpoint: ENDPOINT, held: [], crashed: true })).dead);
  await advance(LEASE_MS);
  const { events, dead } = await claim(store);
  for (const { attempts, possiblyRepeated, ...lease } of events) {
    await settle(store, lease, { state: "ready", attempts, possiblyRepeated });
  }
  return idsOf(dead);
}

export function idsOf(events: readonly Pick<CrashedEvent, "eventId">[]): string[] {
  return events.map(({ eventId }) => eventId);
}

export function assertBetween(
  value: number | null,
  least: number,
  most: number,
  message: string,
): void {
  ok(
    value !== null && value >= least && value <= most,
    `${message}: ${value} is not between ${least} and ${most}`,
  );
}
