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

/** A fresh place for one case to work on. */
export interface ContractMedium {
  /** A store on this medium; called again after a close, it finds what was there. */
  createStore(): InboxStore;
  /**
   * A second store on the same medium, as another process would have it. Leave it out where there can be none: the
   * cases that need it then work with two calls on one store.
   */
  createSibling?(): InboxStore;
  /**
   * What the medium holds at this moment, seen from outside: what would be left if the process died now. Leave it
   * out where nothing outlives the process.
   */
  readBack?(endpoint: string, eventId: string): Promise<StoredEvent | undefined>;
  /** Called once the case is over and its stores are closed. */
  destroy(): Promise<void>;
}

/** What a case works on. */
export interface Stage {
  store: InboxStore;
  sibling: InboxStore;
  medium: ContractMedium;
  open(store: InboxStore): Promise<InboxStore>;
  readBack(endpoint: string, eventId: string): Promise<StoredEvent | undefined>;
}

/** One promise of a store, and how it is tried. */
export interface StoreCase {
  guarantee: string;
  name: string;
  run(stage: Stage): Promise<void>;
}

export function storeCase(guarantee: string, name: string, run: StoreCase["run"]): StoreCase {
  return { guarantee, name, run };
}

export const T0 = Date.UTC(2026, 0, 1);
export const ENDPOINT = "default";

export function newEvent(eventId: string, over: Partial<NewEvent> = {}): NewEvent {
  const body = over.body ?? Buffer.from(`{"id":"${eventId}"}`);
  return {
    endpoint: ENDPOINT,
    eventId,
    type: "signal.published",
    state: "ready",
    dueAt: T0,
    received: { at: T0, headers: {} },
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
  strictEqual(accepts[0]?.status, "accepted", `${eventId} is new`);
  return accepts[0].seq;
}

export async function claim(
  store: InboxStore,
  over: Partial<Pick<ClaimRequest, "now" | "limit" | "held">> = {},
): Promise<ClaimResult> {
  const request = { endpoint: ENDPOINT, now: T0, limit: 10, ...over };
  const result = await commit(store, { claim: { ...request, leaseUntil: request.now + 60_000 } });
  if (result.claim === null) throw new Error("a claim was asked for and not answered");
  return result.claim;
}

export async function claimOne(store: InboxStore, over: { now?: number } = {}): Promise<ClaimedEvent> {
  const { events } = await claim(store, { ...over, limit: 1 });
  if (events[0] === undefined) throw new Error("nothing was claimed");
  return events[0];
}

export async function settle(store: InboxStore, over: Partial<Settlement> & Pick<Settlement, "seq" | "token">) {
  const values = { dueAt: T0, settledAt: T0, attempts: 1, possiblyRepeated: false, lastError: null };
  const base = { ...values, state: "done" } as const;
  const { settlements } = await commit(store, { settlements: [{ ...base, ...over }] });
  return settlements[0];
}

/** Brings an event into a state by the ways there are. */
export async function bring(store: InboxStore, eventId: string, state: EventState): Promise<number> {
  const born = state === "quarantined" ? "quarantined" : state === "ready" ? "ready" : "leased";
  const reason = born === "quarantined" ? "not_json" : null;
  const seq = await accept(store, eventId, { state: born, dueAt: born === "leased" ? T0 + 60_000 : T0, reason });
  if (state === "done" || state === "dead") strictEqual(await settle(store, { seq, token: 1, state }), true);
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
 * Its holder dies: at once for an owner alone, by time for one of several.
 *
 * @returns the ids of the events that this made dead
 */
export async function crash(store: InboxStore, now: number): Promise<string[]> {
  if (!store.shared) {
    return idsOf((await store.takeOver({ endpoint: ENDPOINT, now, held: new Set(), crashed: true })).dead);
  }
  // A claim that wants nothing else still takes over what ran out.
  const { events, dead } = await claim(store, { now, limit: 1 });
  await giveBackAll(store, events, now);
  return idsOf(dead);
}

export function idsOf(events: readonly Pick<CrashedEvent, "eventId">[]): string[] {
  return events.map(({ eventId }) => eventId);
}

async function giveBackAll(store: InboxStore, events: readonly ClaimedEvent[], now: number): Promise<void> {
  for (const { seq, token, attempts, possiblyRepeated } of events) {
    await settle(store, { seq, token, state: "ready", dueAt: now, attempts, possiblyRepeated });
  }
}
