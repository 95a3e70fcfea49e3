import { SignalboxError } from "../errors.js";
import type { Clock } from "../time/clock.js";
import type {
  Activity,
  ActivityQuery,
  InboxEntry,
  ListQuery,
  MoveOutcome,
  ReceivedDelivery,
  ReplayOutcome,
  SearchPage,
  SearchQuery,
  StoredEvent,
  StoreStats,
} from "./stored-events.js";

export type { MoveOutcome, ReplayOutcome };

/** An event that is to be stored. */
export interface NewEvent {
  /** The envelope's id; for bytes without a usable id, `sha256:<hex of the body>`. */
  eventId: string;
  /** The envelope's type; empty for bytes without a type. */
  type: string;
  /** It is in this state from now on. `ready`: due now. `leased`: this process's dispatcher holds it from the start. */
  state: "ready" | "leased" | "done" | "quarantined";
  /** How long the lease of a `leased` event lasts, in milliseconds; null for an event in another state. */
  leaseMs: number | null;
  /**
   * A store can keep it as JSON. After the payload is deleted, the store must still return `at`. That time is by the clock of
   * the process, so nothing may depend on it.
   */
  received: ReceivedDelivery;
  /** SHA-256 of the body. */
  bodyHash: Uint8Array;
  body: Uint8Array;
  /** Why the event is in quarantine; null for an event in another state. */
  reason: string | null;
  /** As {@link InboxEntry} has it. */
  signalType: string | null;
  /** As {@link InboxEntry} has it. */
  product: string | null;
}

/** The result for one new event of a batch. */
export type AcceptResult =
  | {
      status: "accepted";
      seq: number;
      /** The token of its lease; 0 for an event that is not `leased`. */
      token: number;
    }
  | {
      status: "duplicate";
      seq: number;
      /** False when the stored event has another body. The stored body is kept, and the new one is dropped. */
      sameBody: boolean;
    };

/** Ends one lease. The store writes these values into the event, and computes nothing but the time. */
export interface Settlement {
  seq: number;
  /** The token of the lease; see G5. */
  token: number;
  state: "ready" | "done" | "dead";
  /** After how many milliseconds a `ready` event is due; 0 for an event in another state. */
  delayMs: number;
  attempts: number;
  possiblyRepeated: boolean;
  /** Several lines of at most 4,000 UTF-16 units, well-formed and without NUL. Null keeps the previous error. */
  lastError: string | null;
  /** The callback has read `completeSql`: a transaction of its own may have ended this lease, or may hold it now; see G5. */
  mayBeCompleted?: boolean;
}

/**
 * Whether a settlement was applied; see G5. `completed` and `locked` are only for a settlement with `mayBeCompleted`.
 * `completed`: the callback's transaction has made the event `done`, although the settlement says otherwise. `locked`: that
 * transaction is still open. In both cases nothing was changed.
 */
export type SettleResult = boolean | "completed" | "locked";

/** Asks for events that are due. */
export interface ClaimRequest {
  /** How long the leases last, in milliseconds. Only a store with `shared: true` takes over expired leases; see G8. */
  leaseMs: number;
  limit: number;
  /** The `seq` of each event that the claimer holds. With `shared: true` these are not taken over, even if their lease expired. */
  held: readonly number[];
  /** True: claims only suspects, which are events with 2 crashes or more. False: claims only other events. */
  suspects: boolean;
}

/** An event that a dispatcher has claimed. */
export interface ClaimedEvent {
  seq: number;
  eventId: string;
  type: string;
  token: number;
  /** Attempts that were used up before this lease. */
  attempts: number;
  crashes: number;
  /** When the last byte of its body was received, in milliseconds since 1970, by the clock of the process that received it. */
  receivedAt: number;
  possiblyRepeated: boolean;
  replayed: boolean;
  /** The `traceParent` of its `received`; null when it has none. */
  traceParent: string | null;
  body: Uint8Array;
}

/** An event that a crash made dead. */
export interface CrashedEvent {
  seq: number;
  eventId: string;
  type: string;
  attempts: number;
}

/** Asks to free all leases of an endpoint except the held ones. */
export interface TakeOverRequest {
  endpoint: string;
  /** The `seq` of each event that the caller holds. */
  held: readonly number[];
  /** Whether to count a crash for each. */
  crashed: boolean;
}

/** The result of a take-over. */
export interface TakeOverResult {
  /** The number of freed leases, including those of events that became dead. */
  freed: number;
  dead: CrashedEvent[];
}

/** The result of a claim. */
export interface ClaimResult {
  events: ClaimedEvent[];
  /** Events that became dead, because their lease expired for the fifth time. */
  dead: CrashedEvent[];
  /** In how many milliseconds the next `ready` event that is not due yet becomes due; null when there is none. */
  nextDueInMs: number | null;
  /** Whether the event that is due first after this claim is a suspect. */
  isSuspectDue: boolean;
}

/** The content of one commit, all of one endpoint. The settlements are applied first, then the accepts, then the claim. */
export interface Batch {
  endpoint: string;
  settlements: readonly Settlement[];
  accepts: readonly NewEvent[];
  claim: ClaimRequest | null;
}

/** The results of a {@link Batch}, in its order. */
export interface BatchResult {
  settlements: SettleResult[];
  accepts: AcceptResult[];
  claim: ClaimResult | null;
}

/** Names a stored event. */
export interface EventKey {
  endpoint: string;
  eventId: string;
}

/** What a store says about its medium: plain values, which nothing here reads. Each store has a type of its own for them. */
export type StoreDiagnostics = Readonly<Record<string, unknown>>;

/** Asks to delete old done events. */
export interface PruneRequest {
  endpoint: string;
  /** Events that have been done for more than this number of milliseconds lose their payload. */
  payloadsOlderThanMs: number;
  /** Events without payload that have been done for more than this number of milliseconds are deleted. */
  keysOlderThanMs: number;
  /** At most this many payloads and this many events. */
  limit: number;
}

/** Reads a stored body. @returns null when this version of signalbox cannot use it */
export type ReadAgain = (body: Uint8Array) => Pick<NewEvent, "eventId" | "type" | "signalType" | "product"> | null;

/** After this number of crashes (not attempts) an event is a suspect, which is handed off alone. */
export const SUSPECT_CRASHES = 2;

/** After this number of crashes an event is `dead` with the reason `crash_loop`. */
export const MAX_CRASHES = 5;

/**
 * If the time at which an event became ready is more than this in the future, the store's clock was set back (see G7). Less is a
 * normal correction of the clock.
 */
export const CLOCK_SLACK_MS = 5000;

/** The `lastError` of an event that {@link MAX_CRASHES} made dead. */
export const CRASH_LOOP = "crash_loop";

/** @returns what is left of `received` once the payload is deleted */
export function withoutPayload(at: number): ReceivedDelivery {
  return { at, headers: {} };
}

/** @returns the error of a store that is used before `open` or after `close` (G11) */
export function closedStoreError(): SignalboxError {
  return new SignalboxError(
    "store_failed",
    "The store is not open.",
    "It is open from receiver.start() to receiver.close().",
  );
}

/** @returns the clock that `open` was given for the endpoint. @throws SignalboxError when the endpoint is not open */
export function clockOf(clocks: ReadonlyMap<string, Clock>, endpoint: string): Clock {
  const clock = clocks.get(endpoint);
  if (clock === undefined) throw closedStoreError();
  return clock;
}

/** @returns the error of `open` when the store object has already opened the endpoint. @param inbox its name, for the message */
export function endpointInUseError(endpoint: string, inbox: string): SignalboxError {
  const message = `This process has already opened endpoint "${endpoint}" of ${inbox}.`;
  return new SignalboxError("store_in_use", message, "Give each receiver a different endpoint.");
}

/**
 * A backend of the inbox.
 *
 * Its guarantees, which `storeContract` (`signalbox/testing`) checks:
 *
 * - **G1** When `commit` resolves, everything in the batch is on stable storage (with `durable: false`, in the process's
 *   memory).
 * - **G2** At most one accept per (endpoint, event id) is `accepted`, under any concurrency and, for
 *   `shared: true`, any number of processes. All others are `duplicate`.
 * - **G3** A `duplicate` is reported only once its original is as durable as G1 says.
 * - **G4** A batch is applied whole or not at all. After a rejected `commit` it is unknown which.
 * - **G5** A settlement is applied if its event is `leased` under its token; the result is `true`. If a settlement has ended that
 *   lease before, and the event was not claimed since, nothing is changed, and the result is `true` as well. Otherwise (the
 *   lease was taken over, or the event was claimed again or deleted) nothing is changed, and the result is `false`. With
 *   `completeSql`, a transaction of the callback can end a lease too. A commit never waits for such a transaction.
 * - **G6** Bodies are returned byte for byte, whatever the bytes. A claimed event has the `traceParent` that was received
 *   with it.
 * - **G7** A claim leases an event that is `ready` and due to one claimer, with a larger token than before, earliest due
 *   first. It leases either suspects or other events. All times are those of the store's clock. If an event became `ready` more
 *   than 5 seconds after the present, that clock was set back: then the event keeps its delay, counted from now.
 * - **G8** `takeOver` makes the leased events of a dead process `ready`, counts a crash for each and marks it possibly
 *   repeated; after the fifth crash the event is `dead` with the reason `crash_loop`. With `shared: true`, `claim` does this
 *   to expired leases that the claimer does not hold, and `takeOver` does nothing. With `ownsLeases: true` as well, `claim`
 *   does it to expired leases of the claimer itself that it does not hold, and to all leases of a dead process, but never to
 *   the leases of another process that lives; `takeOver` with `crashed: false` frees the caller's own leases.
 * - **G9** `prune` changes only `done` events, and the `seq` of a deleted event is not used again.
 * - **G10** `replay` moves only `done`, `dead` and `quarantined` events that have their payload. It reads the body of an event
 *   that is `quarantined` or has an empty type, and stores the id and type that it reads. `discard` deletes the payload of a
 *   `dead` or `quarantined` event but keeps its id.
 * - **G11** A closed store rejects every call. When it is opened again, it has all its events.
 * - **G12** `search` finds the events of an endpoint that match everything that is given, the newest (largest `seq`) first. Who
 *   pages with `nextBeforeSeq` until it is null finds each exactly once, if nothing changes meanwhile. The beginning of an id is
 *   compared character by character: no character has a special meaning, and capitals differ from small letters.
 * - **G13** A settlement with an error, a counted crash and a `replay` each add a step to the history of their event, which keeps
 *   the newest 50. The history is deleted with the payload. `restore` keeps it.
 * - **G14** `activity` counts, for each minute of the store's clock, the accepted events, the applied settlements as `done`, and
 *   the applied settlements with an error. What is reported as a duplicate or as applied before is not counted again. `prune` deletes
 *   what is older than 8 days.
 *
 * The store's clock decides about due times, leases and ages; calls and results carry durations. A store on this machine
 * measures with the clock that `open` was given for the endpoint. A store with a clock of its own, such as a database, ignores
 * it, so that processes whose clocks differ can share the store.
 *
 * Not guaranteed: the order of hand-offs, and that `list` and `stats` show the same moment.
 *
 * One batcher for each endpoint calls `commit`, one call at a time. After a failed commit it repeats the settlements, and G5
 * says what became of them. An error with the code `store_row_refused` means that something in the batch cannot be stored, and
 * the batcher then halves the batch to find it. Any other error means that the medium failed.
 */
export interface InboxStore {
  /** For logs and health. */
  readonly name: string;
  /** Whether its events survive the end of the process. */
  readonly durable: boolean;
  /** Whether several processes can have it open at the same time. */
  readonly shared: boolean;
  /**
   * With `shared: true`: whether the store knows which processes live. A lease then lasts for as long as its process lives and
   * holds the event. Otherwise it lasts for `leaseMs`.
   * @default false
   */
  readonly ownsLeases?: boolean;
  /**
   * With `ownsLeases: true`: since when, by `clock.elapsed()`, no other process can have taken this one for dead; `Infinity`
   * while one may. Leases that were asked for earlier may be lost: what did not begin under them must not begin.
   */
  leasedSince?(endpoint: string): number;

  /**
   * Opens it for one endpoint. Other endpoints of this process can share the store object, each with its own clock.
   *
   * @param context `clock`: the clock of the receiver, or of the tool
   * @throws SignalboxError `store_in_use`, `store_unsupported`, `store_newer`, `store_corrupt`, `store_failed`
   */
  open(context: { endpoint: string; clock: Clock }): Promise<void>;
  /** Closes it for one endpoint. Idempotent. */
  close(endpoint: string): Promise<void>;

  /** Applies a batch; see G1 to G5 and G7. */
  commit(batch: Batch): Promise<BatchResult>;
  /**
   * Frees the leases of dead processes, but not those of the `held` events; see G8. `crashed: false` is used after a failed
   * commit. It counts no crash, because no hand-off began, and it always writes something, so that it rejects while the
   * medium fails.
   */
  takeOver(request: TakeOverRequest): Promise<TakeOverResult>;

  /**
   * The statement with which a callback ends its lease as `done`, in a transaction of its own in the same database. It fails if
   * the event is not `leased` under this token any more. Omit it for a store whose database the callback cannot reach.
   */
  completeSql?(lease: Pick<Settlement, "seq" | "token">): string;

  /** Lists events in the order of `seq`. */
  list(query: ListQuery): Promise<InboxEntry[]>;
  /** Lists the newest events that match. It takes a short time in an inbox of any size; see {@link SearchPage}. */
  search(endpoint: string, query: SearchQuery): Promise<SearchPage>;
  /** What happened lately, the oldest span first; spans in which nothing happened are left out. */
  activity(endpoint: string, query: ActivityQuery): Promise<Activity[]>;
  /** Reads one event with its headers and body. */
  get(endpoint: string, eventId: string): Promise<StoredEvent | undefined>;
  /** Counts the events of an endpoint. */
  stats(endpoint: string): Promise<StoreStats>;
  /** As `stats` returns it, for `health()`; undefined when it is not known. Omit it if that takes a long query. */
  oldestReadyAgeMs?(endpoint: string): number | null | undefined;
  /** For `health()` and `stats()`, without a query; null while nothing is known. Optional. */
  diagnostics?(endpoint: string): StoreDiagnostics | null;
  /** Makes events `ready`; see G10. @returns one outcome for each, in order */
  replay(events: readonly EventKey[], readAgain: ReadAgain): Promise<ReplayOutcome[]>;
  /** Makes events `done` without handing them off; see G10. @returns one outcome for each, in order */
  discard(events: readonly EventKey[]): Promise<MoveOutcome[]>;
  /**
   * Adds events that `get` of another store returned, in their states and with their times, for a move between stores. A
   * `leased` event becomes `ready`, due now and possibly repeated. An event whose id the endpoint has is not added. Optional.
   *
   * @returns how many were added
   */
  restore?(endpoint: string, events: readonly StoredEvent[]): Promise<number>;
  /** Deletes old done events; see G9. @returns how many payloads and how many events (keys) it deleted */
  prune(request: PruneRequest): Promise<{ payloads: number; keys: number }>;
}
