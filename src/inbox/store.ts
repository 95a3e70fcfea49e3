import { SignalboxError } from "../errors.js";
import type { StoreDiagnostics } from "./store-diagnostics.js";

/**
 * Where an accepted event stands.
 *
 * `ready → leased → done`, `leased → ready` (retry, release, expired lease), `leased → dead`,
 * `dead | done → ready` (replay), `dead → done` (discard), `quarantined → ready` (replay that finds it usable).
 */
export type EventState = "ready" | "leased" | "done" | "dead" | "quarantined";

export const EVENT_STATES: readonly EventState[] = ["ready", "leased", "done", "dead", "quarantined"];

/**
 * What is kept of a delivery beside its body. The adapter fills it, the row keeps it, and `inbox.get` gives it back, all in
 * this one shape: a new field is added here, where the adapter knows it, and where it is shown.
 */
export interface ReceivedDelivery {
  /** When the last byte of its body came, in milliseconds since 1970. */
  at: number;
  /** The headers worth keeping, by their names in lower case. */
  headers: Readonly<Record<string, string>>;
}

/** An event on its way into the inbox. */
export interface NewEvent {
  endpoint: string;
  /** The envelope's id; for bytes without a usable one, `sha256:<hex of the body>`. */
  eventId: string;
  /** The envelope's type; empty for bytes without one. */
  type: string;
  /** `leased`: born in the hands of this process's dispatcher, with token 1. */
  state: "ready" | "leased" | "done" | "quarantined";
  /** Milliseconds. What it is for depends on the state: see {@link InboxEntry.dueAt}. */
  dueAt: number;
  /** A store may keep it as JSON; `at` stays readable once the payload is dropped. */
  received: ReceivedDelivery;
  /** SHA-256 of the body. */
  bodyHash: Uint8Array;
  body: Uint8Array;
  /** Why it is in quarantine; otherwise null. */
  reason: string | null;
}

/** What became of one new event of a batch. */
export type AcceptResult =
  | { status: "accepted"; seq: number }
  | {
      status: "duplicate";
      seq: number;
      /** False: the same id came with another body. The first body stays. */
      sameBody: boolean;
    };

/** The end of one hand-off. All values are absolute; the store computes nothing. */
export interface Settlement {
  seq: number;
  /** The token under which the event was leased. A token that is not current changes nothing. */
  token: number;
  state: "ready" | "done" | "dead";
  dueAt: number;
  /** Now, by the clock that `dueAt` is reckoned by. */
  settledAt: number;
  attempts: number;
  possiblyRepeated: boolean;
  /** Null keeps the one before. */
  lastError: string | null;
}

/** Asks for events that are due. */
export interface ClaimRequest {
  endpoint: string;
  now: number;
  /** When the lease runs out. Only a store with `shared: true` ever takes a lease over by time. */
  leaseUntil: number;
  limit: number;
  /**
   * What the claimer has in hand: with `shared: true` it never takes that over from itself, whatever the clock says.
   * @default nothing
   */
  held?: Pick<ReadonlySet<number>, "has" | "size"> | undefined;
}

/** An event that a dispatcher has claimed, with what its callback needs. */
export interface ClaimedEvent {
  seq: number;
  eventId: string;
  type: string;
  token: number;
  /** Attempts used up before this one. */
  attempts: number;
  crashes: number;
  received: ReceivedDelivery;
  possiblyRepeated: boolean;
  replayed: boolean;
  body: Uint8Array;
}

/** An event that its fifth crash made dead. */
export interface CrashedEvent {
  seq: number;
  eventId: string;
  type: string;
  attempts: number;
}

/** Whose leases are to be freed: all but those that are held. */
export interface TakeOverRequest {
  endpoint: string;
  now: number;
  held: Pick<ReadonlySet<number>, "has">;
  crashed: boolean;
}

/** What a take-over found. */
export interface TakeOverResult {
  /** How many leases it freed, those of the events that are dead now among them. */
  freed: number;
  dead: CrashedEvent[];
}

/** What a claim got, and what else is to be done. */
export interface ClaimResult {
  events: ClaimedEvent[];
  /** Events whose lease had run out once too often. */
  dead: CrashedEvent[];
  /** When the next event that is `ready` now becomes due, or null when there is none. */
  nextDueAt: number | null;
}

/** What one commit carries, in the order in which it is applied: settlements, then accepts, then the claim. */
export interface Batch {
  settlements: readonly Settlement[];
  accepts: readonly NewEvent[];
  claim: ClaimRequest | null;
}

/** What became of each part of a {@link Batch}, in its order. */
export interface BatchResult {
  /** For each settlement, whether its token was current. */
  settlements: boolean[];
  accepts: AcceptResult[];
  claim: ClaimResult | null;
}

/** One row as `list` shows it. Times are in milliseconds since 1970. */
export interface InboxEntry {
  seq: number;
  endpoint: string;
  eventId: string;
  type: string;
  state: EventState;
  /** `ready`: when it is due. `leased`: when the lease runs out. Otherwise: since when it is in this state. */
  dueAt: number;
  attempts: number;
  crashes: number;
  possiblyRepeated: boolean;
  replayed: boolean;
  receivedAt: number;
  lastError: string | null;
}

/** An entry with what was received. */
export interface StoredEvent extends InboxEntry {
  /** Without headers once the payload is gone. */
  received: ReceivedDelivery;
  bodyHash: Uint8Array;
  /** Byte for byte as received; null once retention dropped it or a person discarded it. */
  rawBody: Uint8Array | null;
}

/** Which entries `list` gives; what is left out excludes none. */
export interface ListQuery {
  /** @default all endpoints */
  endpoint?: string;
  state?: EventState;
  type?: string;
  /** Entries with a larger `seq` only: the last one of the page before. */
  afterSeq?: number;
  /** @default 100 */
  limit?: number;
}

/** How many events are in each state. */
export type StateCounts = Record<EventState, number>;

/** Counts per state, of one endpoint. */
export interface StoreStats extends StateCounts {
  total: number;
  /** When the event that waits longest in `ready` became due; null when none waits. */
  oldestReadyAt: number | null;
}

/** What is old enough to be forgotten. */
export interface PruneRequest {
  endpoint: string;
  /** Done events whose state is older than this lose their payload. Milliseconds. */
  payloadsBefore: number;
  /** Done events without payload whose state is older than this are forgotten. Milliseconds. */
  keysBefore: number;
  /** At most this many rows of each kind. */
  limit: number;
}

/**
 * What became of one event of `replay` or `discard`. `duplicate`: a quarantined event turned out to have the id
 * of one that was accepted; it is `done`.
 */
export type MoveOutcome = "moved" | "not_found" | "wrong_state" | "payload_gone" | "duplicate";

/** A move to `ready`. */
export interface ReplayMove {
  endpoint: string;
  eventId: string;
  /** For a quarantined event that turned out usable: the id and type that it really has. */
  readAs?: { eventId: string; type: string };
}

/** How a store opens. */
export type StoreContext = { endpoint: string };

/** Crashes after which an event is `dead` with reason `crash_loop`. */
export const MAX_CRASHES = 5;

/** `ready` since a time further ahead than this: the clock was set back. Less is normal skew between processes. */
export const CLOCK_SLACK_MS = 5000;

/** The `lastError` of an event that {@link MAX_CRASHES} made dead. */
export const CRASH_LOOP = "crash_loop";

/** What a store throws when it is used before `open` or after `close` (G11). */
export function closedStoreError(): SignalboxError {
  return new SignalboxError("store_failed", "The store is not open.", "Call receiver.start() first.");
}

/** What `open` rejects with when the store object has the endpoint open already. @param inbox named in the message */
export function endpointInUseError(endpoint: string, inbox: string): SignalboxError {
  const message = `This process has endpoint "${endpoint}" of ${inbox} open already.`;
  return new SignalboxError("store_in_use", message, "Give each receiver an endpoint of its own.");
}

/**
 * A backend of the inbox.
 *
 * What it guarantees, each held by a case of `storeContract` (`signalbox/testing`):
 *
 * - **G1** When `commit` resolves, everything in the batch is on stable storage (`durable: false`: as safe as
 *   the process).
 * - **G2** At most one accept per (endpoint, event id) is `accepted`, under any concurrency and, for
 *   `shared: true`, over any number of processes. All others are `duplicate`.
 * - **G3** A `duplicate` is answered only once its original is as durable as G1 says.
 * - **G4** A batch is applied whole or not at all. A rejected `commit` leaves it unknown which.
 * - **G5** A settlement whose token is not current changes nothing and is answered `false`.
 * - **G6** Bodies come back byte for byte, whatever the bytes.
 * - **G7** A claim hands out an event that is due and `ready` to one claimer, with a token larger than any
 *   before, earliest due first. What became `ready` at a time that is more
 *   than 5 seconds ahead of the claim's `now` waits no longer than it was to wait then: the clock
 *   was set back.
 * - **G8** `takeOver` makes every lease of a dead predecessor `ready` at once, counts a crash for each and marks
 *   it possibly repeated; the fifth makes it `dead`, for the reason `crash_loop`. With `shared: true` an expired lease gets
 *   the same in `claim`, unless the claimer holds it itself, and `takeOver` does nothing.
 * - **G9** `prune` never touches an event that is not `done`, and the `seq` of a forgotten event is not used again.
 * - **G10** `replay` takes `done`, `dead` and `quarantined` events that have their payload and nothing else;
 *   `discard` drops the payload of a `dead` or `quarantined` event and keeps its key.
 * - **G11** A closed store rejects every call; opening it again finds everything.
 *
 * What it does not guarantee: the order of hand-off, that `list` and `stats` are of one moment, and that a
 * rejected `commit` left nothing behind.
 *
 * `commit` is called by one batcher at a time per endpoint. An error with code `store_row_refused` blames
 * something in the batch (the batcher halves it to find what); any other blames the medium.
 */
export interface InboxStore {
  /** For logs and health. */
  readonly name: string;
  /** Whether it outlives the process. */
  readonly durable: boolean;
  /** Whether several processes may have it open at once. */
  readonly shared: boolean;

  /**
   * Opens it for one endpoint; other endpoints of the same process may share the store object.
   *
   * @throws SignalboxError `store_in_use`, `store_unsupported`, `store_newer`, `store_corrupt`, `store_failed`
   */
  open(context: StoreContext): Promise<void>;
  /** Ends what `open` began for this endpoint. Idempotent. */
  close(endpoint: string): Promise<void>;

  /** Applies a batch; see G1 to G5 and G7. */
  commit(batch: Batch): Promise<BatchResult>;
  /**
   * Frees the leases of dead processes; see G8. `held` are the events that this process has in hand
   * and keeps. `crashed: false` frees without counting a crash, since the hand-off never began; it follows a
   * failed commit, and so it writes something in any case and rejects while the medium still fails.
   */
  takeOver(request: TakeOverRequest): Promise<TakeOverResult>;

  /** Entries without what was received, by `seq`. */
  list(query: ListQuery): Promise<InboxEntry[]>;
  /** One event with what was received. */
  get(endpoint: string, eventId: string): Promise<StoredEvent | undefined>;
  /** Counts the events of an endpoint. */
  stats(endpoint: string): Promise<StoreStats>;
  /**
   * When the event that waits longest in `ready` became due; null when none waits. `health()` shows its age. Leave it out,
   * or throw, where that is not known at once.
   */
  oldestReadyAt?(endpoint: string): number | null;
  /** For `health()` and `stats()`; null while it is not open. A store without figures of its own leaves it out. */
  diagnostics?(endpoint: string): StoreDiagnostics | null;
  /** Puts events back to `ready`; see G10. One outcome for each, in order. */
  replay(moves: readonly ReplayMove[], now: number): Promise<MoveOutcome[]>;
  /** Gives events up; see G10. One outcome for each, in order. */
  discard(events: readonly { endpoint: string; eventId: string }[], now: number): Promise<MoveOutcome[]>;
  /** Forgets old done events; see G9. Gives how many lost their payload and how many their key. */
  prune(request: PruneRequest): Promise<{ payloads: number; keys: number }>;
}
