import { SignalboxError } from "../../base/errors.js";
import type { Clock } from "../../base/time/clock.js";
import type { Lane } from "./lane.js";
import type { Mentioning } from "./deleting/mentions.js";
import type { Batch, BatchResult, CrashedEvent, NewEvent, Settlement } from "./batch.js";
import type { Activity, ActivityQuery } from "./activity.js";
import type { FailedEvent, StoredAlarm, StoredReport } from "./situation/trouble.js";
import type {
  InboxEntry,
  ListQuery,
  MoveOutcome,
  OldestReady,
  ReplayOutcome,
  SearchPage,
  SearchQuery,
  StoredEvent,
  StoreStats,
} from "./stored-events.js";

/** Asks to free all leases of an endpoint except the held ones. */
export interface ReclaimRequest {
  endpoint: string;
  /** The `seq` of each event that the caller holds. */
  held: readonly number[];
  /** Whether to count a crash for each. */
  crashed: boolean;
}

/** The result of reclaiming leases. */
export interface ReclaimResult {
  /** The number of freed leases, including those of events that became dead. */
  freed: number;
  dead: CrashedEvent[];
}

/** Names a stored event. */
export interface EventKey {
  endpoint: string;
  eventId: string;
}

/**
 * What a store says about its storage: plain values, which nothing here reads. Each store has a
 * type of its own for them.
 */
export type StoreDiagnostics = Readonly<Record<string, unknown>>;

/** The payload of an event. */
export interface PayloadSize {
  seq: number;
  /** For how long the event has been done, in milliseconds. */
  ageMs: number;
  /** Of body and headers; 0 unless it is a done event of the endpoint. */
  bytes: number;
}

/** Asks to delete old done events. */
export interface PruneRequest {
  endpoint: string;
  /** Events that have been done for more than this number of milliseconds lose their payload. */
  payloadsOlderThanMs: number;
  /**
   * Events without payload that have been done for more than this number of milliseconds are
   * deleted.
   */
  keysOlderThanMs: number;
  /** At most this many payloads and this many events. */
  limit: number;
}

/** Reads a stored event. @returns null when this version of signalbox cannot use it */
export type ReadAgain = (
  event: Pick<StoredEvent, "sender" | "received"> & { body: Uint8Array },
) => ReadEventFacts | null;

/** What is read of a stored event. */
export interface ReadEventFacts extends Pick<NewEvent, "eventId" | "type" | "subtype" | "subject"> {
  /** The id that it gets when another event has its id. Absent: the id alone makes a duplicate. */
  ownId?: string;
  /** As {@link NewEvent} has it; absent in a tool. */
  lane?: Lane | null;
}

/** A part of the hashes of bodies. */
export interface BodyHashes {
  /** The newest first. */
  hashes: { eventId: string; bodyHash: Uint8Array }[];
  /** To continue, pass it as `beforeSeq`; null at the end. */
  nextBeforeSeq: number | null;
}

/**
 * If the time at which an event became ready is more than this in the future, the clock was set
 * back (see G7). Less is a normal correction of the clock.
 */
export const CLOCK_SLACK_MS = 5000;

/** @returns the error of a store that is used before `open` or after `close` */
export function closedStoreError(): SignalboxError {
  return new SignalboxError(
    "store_failed",
    "The store is not open.",
    "It is open from receiver.start() to receiver.close().",
  );
}

/**
 * @returns the clock that `open` was given for the endpoint. @throws SignalboxError when the
 * endpoint is not open
 */
export function clockOf(clocks: ReadonlyMap<string, Clock>, endpoint: string): Clock {
  const clock = clocks.get(endpoint);
  if (clock === undefined) throw closedStoreError();
  return clock;
}

/**
 * @returns the error of `open` when the store object has already opened the endpoint. @param inbox
 * its name, for the message
 */
export function endpointInUseError(endpoint: string, inbox: string): SignalboxError {
  const message = `This process has already opened endpoint "${endpoint}" of ${inbox}.`;
  return new SignalboxError("store_in_use", message, "Give each receiver a different endpoint.");
}

/**
 * A backend of the inbox: `sqliteStore`, `postgresStore` or `memoryStore` makes one. Its methods
 * are for signalbox alone, and can change with each version.
 */
export interface InboxStore {
  /** For logs and health. */
  readonly name: string;
  /** Whether its events survive the end of the process. */
  readonly durable: boolean;
  /** Whether several processes can have it open at the same time. */
  readonly shared: boolean;
}

/*
 * The port: what the inbox calls, and no published type has. No doc comment, since a name has one.
 *
 * Each guarantee has a number, which the cases of `test/contract` name. The store's clock decides
 * about due times, leases and ages; calls and results carry durations. A store on this machine uses
 * the clock that `open` was given for the endpoint. A store with a clock of its own, such as a
 * database, ignores it, so that processes whose clocks differ can share the store.
 *
 * Not guaranteed: the order of hand-offs without a lane, and that `list` and `stats` show the same
 * moment.
 *
 * @internal
 */
export interface InboxStore {
  /**
   * How many commits of an endpoint can be in flight now. The batcher begins them in order, and
   * answers them in order.
   *
   * @default 1
   */
  commitsInFlight?(): number;
  /**
   * For a `shared` store that knows which processes live: a lease lasts for as long as its process
   * lives and holds the event, not for `leaseMs`. Leases that were asked for before this time, by
   * `clock.elapsed()`, may be lost: do not start their callbacks. `Infinity`: all may be.
   */
  leasedSince?(endpoint: string): number;

  /**
   * Opens it for one endpoint. Other endpoints of this process can share the store object, each
   * with its own clock.
   *
   * @param context `clock`: the clock of the receiver, or of the tool
   * @throws SignalboxError `store_in_use`, `store_unsupported`, `store_newer`, `store_corrupt`,
   * `store_failed`
   */
  open(context: { endpoint: string; clock: Clock }): Promise<void>;
  /**
   * Closes it for one endpoint. Idempotent.
   *
   * - **G11** A closed store rejects every call. When it is opened again, it has all its events.
   */
  close(endpoint: string): Promise<void>;
  /**
   * What is too small for this many callbacks at the same time, with the fix, for the log; null
   * when nothing is. Optional.
   */
  shortage?(concurrency: number): string | null;

  /**
   * Applies a batch. After a failed commit, the batcher repeats its settlements. An error with the
   * code `store_row_refused` means that something in the batch cannot be stored: the batcher then
   * halves the batch to find it. Any other error means that the storage failed.
   *
   * - **G1** When it resolves, everything in the batch is on stable storage (with `durable: false`,
   *   in the process's memory).
   * - **G2** At most one accept per (endpoint, event id), and per (endpoint, content key), is
   *   `accepted`, under any concurrency and, with `shared: true`, any number of processes. All
   *   others are `duplicate`, and say whether the stored event is the same in type, subtype,
   *   subject and body. If both keys are stored, the event with the id is the one that is compared.
   * - **G3** A `duplicate` is reported only once its original is as durable as G1 says.
   * - **G4** A batch is applied whole or not at all. After a rejected `commit` it is unknown which.
   * - **G5** A settlement is applied if its event is `leased` under its token; the result is
   *   `true`. If a settlement has ended that lease before, and the event was not claimed since,
   *   nothing is changed, and the result is `true` as well. Otherwise (the lease was reclaimed, or
   *   the event was claimed again or deleted) nothing is changed, and the result is `false`. With
   *   `completeSql`, a transaction of the callback can end a lease too. A commit never waits for
   *   such a transaction.
   * - **G6** Bodies are returned byte for byte, whatever the bytes. A claimed event has what was
   *   `received` with it.
   * - **G7** A claim leases an event that is `ready` and due to one claimer, with a larger token
   *   than before, earliest due first. On this machine: if an event became `ready` more than 5
   *   seconds after the present, the clock was set back, and the event keeps its delay, counted
   *   from now.
   * - **G13** A settlement with an error, a counted crash and a `replay` each add a step to the
   *   history of their event, which keeps the newest 50. The history is deleted with the payload.
   *   `restore` keeps it.
   * - **G17** Of the events of an endpoint with one lane, at most one is `leased` or due: the head.
   *   The others are `ready`, and due `NEVER`; a new one among them is not `leased`, although it
   *   was asked for. When the head is `done`, or `dead` in a lane that skips, the one with the
   *   smallest `seq` becomes the head, and is due: with a settlement that names the lane, with
   *   `discard`, with a crash, or with `tendLanes`. The `seq` of new events of a commit are in its order. What
   *   `replay` makes `ready` waits in its lane, unless it is the head or there is none.
   * - **G18** A new event with a `burst` is not `leased`. If the event before it in its lane has one
   *   too, was never `leased`, the newer of the two (by rank; otherwise, and of
   *   equals, the new one) takes the place of both. The other one is `done`, `superseded by` it, and
   *   counted and named in `earlier` when the newer one is claimed. As a head it is due `quietMs` after
   *   the last new one, and at most `longestMs` after the first. Until it is `done`, `prune` deletes
   *   none of them. If `discard` ends it, the next by rank, then by `seq`, is `ready` in its lane. An
   *   event that was superseded and is replayed has no burst.
   */
  commit(batch: Batch): Promise<BatchResult>;
  /**
   * Frees leases, but not those of the `held` events. `crashed: false` is used after a failed
   * commit. It counts no crash, because no hand-off began, and it always writes something, so that
   * it rejects while the storage fails.
   *
   * - **G8** Whose leases become `ready`, by whom:
   *
   *   | store                    | `reclaim`, `crashed: true` | `reclaim`, `crashed: false` | a claim                                    |
   *   | ------------------------ | -------------------------- | --------------------------- | ------------------------------------------ |
   *   | one process owns it      | all                        | all                         | none                                       |
   *   | `shared`                 | none                       | none                        | expired ones                               |
   *   | `shared`, `leasedSince`  | none                       | the caller's own            | expired own ones; all of a dead process    |
   *
   *   A claim and `crashed: true` count a crash for each and mark it possibly repeated. After a
   *   crash an event is due as `CRASH_DELAYS_MS` says; from the second on its error is `crash_loop`,
   *   and after the fifth it is `dead`.
   */
  reclaim(request: ReclaimRequest): Promise<ReclaimResult>;

  /**
   * The statement with which a callback ends its lease as `done`, in a transaction of its own in
   * the same database. It fails if the event is not `leased` under this token any more. Omit it for
   * a store whose database the callback cannot reach.
   */
  completeSql?(lease: Pick<Settlement, "seq" | "token">): string;

  /** Lists events in the order of `seq`. */
  list(query: ListQuery): Promise<InboxEntry[]>;
  /**
   * Lists the newest events that match. It takes a short time in an inbox of any size; see
   * `SearchPage`.
   *
   * - **G12** It finds the events of an endpoint that match everything that is given, the newest
   *   (largest `seq`) first. A caller that pages with `nextBeforeSeq` until it is null finds each
   *   exactly once, if nothing changes meanwhile. The beginning of an id is compared character by
   *   character: no character has a special meaning, and capitals differ from small letters.
   */
  search(endpoint: string, query: SearchQuery): Promise<SearchPage>;
  /**
   * What happened lately, the oldest span first; spans in which nothing happened are left out.
   *
   * - **G14** It counts, for each minute of the store's clock, the accepted events, those of them
   *   that were accepted as `done`, the applied settlements as `done`, by the time since
   *   `receivedAt` too, and the applied settlements with an error. What is reported as a
   *   duplicate or as applied before is not counted again. `prune` deletes what is older than 8
   *   days.
   */
  activity(endpoint: string, query: ActivityQuery): Promise<Activity[]>;
  /** The endpoints that have events, or reports that are kept, by their names. For a tool. */
  endpoints(): Promise<string[]>;
  /**
   * Reads one event with its headers and body. @param mostBytes a longer body is not read:
   * `rawBody` is null
   */
  get(endpoint: string, eventId: string, mostBytes?: number): Promise<StoredEvent | undefined>;
  /** Counts the events of an endpoint. */
  stats(endpoint: string): Promise<StoreStats>;
  /**
   * As `stats` returns it, for `health()`; undefined when it is not known. Omit it if that takes a
   * long query.
   */
  oldestReady?(endpoint: string): OldestReady | undefined;
  /**
   * The events that fail: those that are `dead`, or `ready` after a failed attempt or two crashes.
   *
   * - **G15** It finds the newest `FAILED_AT_ONCE` of this state below `beforeSeq`, the newest
   *   first, in an inbox of any size. A delivery that succeeds pays nothing for it.
   */
  failing(endpoint: string, state: FailedEvent["state"], beforeSeq: number): Promise<FailedEvent[]>;
  /**
   * The hashes of the bodies of events with a smaller `seq`.
   *
   * - **G16** It looks at the newest `limit` events of all endpoints, and finds those of this one,
   *   in an inbox of any size.
   */
  bodyHashes(endpoint: string, beforeSeq: number, limit: number): Promise<BodyHashes>;
  /** Whether a receiver has the endpoint open; null when that cannot be told. For a tool. */
  hasReceiver(endpoint: string): Promise<boolean | null>;
  /**
   * Replaces the report of this reporter. Those that are older than `REPORT_KEPT_MS` are deleted.
   *
   * @param isKnown it was saved before. @returns false when it is known and was deleted since, by an
   * erasure: then nothing is saved
   */
  saveReport(
    endpoint: string,
    reporter: string,
    report: string,
    isKnown?: boolean,
  ): Promise<boolean>;
  /** The kept reports, the newest first. */
  reports(endpoint: string): Promise<StoredReport[]>;
  /** What `setAlarm` has kept, one of each kind. */
  alarms(endpoint: string): Promise<StoredAlarm[]>;
  /**
   * Replaces what is kept of a kind of alarm.
   *
   * - **G19** It changes nothing if something else is kept than `before` (null: nothing). Of several
   *   calls with the same `before`, in any processes, one changes it.
   *
   * @returns whether it was changed
   */
  setAlarm(endpoint: string, kind: string, before: string | null, after: string): Promise<boolean>;
  /** For `health()` and `stats()`, without a query; null while nothing is known. Optional. */
  diagnostics?(endpoint: string): StoreDiagnostics | null;
  /**
   * Makes events `ready`.
   *
   * - **G10** It moves only `done`, `dead` and `quarantined` events that have their payload. It
   *   reads the body of an event that is `quarantined` or has an empty type, and stores the id and
   *   type that it reads, or its `ownId` if another event, which differs in type, subtype, subject
   *   or body, has that id. `discard` deletes the payload of a `done`, `dead` or
   *   `quarantined` event but keeps its id.
   *
   * @returns one outcome for each, in order
   */
  replay(events: readonly EventKey[], readAgain: ReadAgain): Promise<ReplayOutcome[]>;
  /** Makes `ready` events due now. @returns one outcome for each, in order */
  retryNow(events: readonly EventKey[]): Promise<MoveOutcome[]>;
  /** Makes events `done` without handing them off, and deletes their payload. @returns one outcome for each, in order. */
  discard(events: readonly EventKey[]): Promise<MoveOutcome[]>;
  /**
   * Deletes everything of events in any state but their keys, types and body hashes.
   *
   * - **G20** They are `done` with the error `ERASED`, and leave their lanes, whose next events are
   *   due. A `leased` one ends so with its settlement, whatever that says, or with its process; until
   *   then it is the head of its lane. A new event with the key of an erased one is its duplicate,
   *   and reported as `isBackfilled`. An id that has `hidden`, whatever the case of its letters, is
   *   replaced: see `ERASED_ID`. Reports that have `hidden` are deleted, and texts of alarms.
   *
   * @returns one outcome for each, in order. `wrong_state`: a transaction holds it
   */
  erase(events: readonly EventKey[], hidden: string | null): Promise<MoveOutcome[]>;
  /** One page of the events that have a text, off the event loop. Optional. */
  mentioning?(endpoint: string, text: string, afterSeq: number): Promise<Mentioning>;
  /**
   * Removes what is left of erased events from the medium. @returns why something may be left; null
   * when nothing is
   */
  wipe(hidden: string | null): Promise<string | null>;
  /**
   * Writes the medium anew, without what older versions left in it. For a tool; receivers would have
   * to wait. Optional.
   */
  vacuum?(): Promise<void>;
  /** A dead head lets the others of its lane go on. @returns whether there was one */
  unblock(endpoint: string, key: Lane["key"]): Promise<boolean>;
  /**
   * With the option `order`, makes the next event of each lane due whose head has ended without
   * that; without it, dissolves the lanes. It looks at a part of the lanes in a short time.
   * `isAtEnd: false`: call it again soon. `waiting`: how many events wait in their lanes, if it has
   * looked at all.
   */
  tendLanes(
    endpoint: string,
    ordered: boolean,
  ): Promise<{ promoted: number; isAtEnd: boolean; waiting?: number | undefined }>;
  /**
   * Adds events that `get` of another store returned, in their states and with their times, for a
   * move between stores. A `leased` event becomes `ready`, due now and possibly repeated. An event
   * whose id the endpoint has is not added. Optional.
   *
   * @returns how many were added
   */
  restore?(endpoint: string, events: readonly StoredEvent[]): Promise<number>;
  /**
   * Deletes old done events.
   *
   * @returns how many payloads and how many events (keys) it deleted. `isAtEnd: false`: it has not
   * looked at all events yet, so that another call soon finds others
   *
   * - **G9** It changes only `done` events, and the `seq` of a deleted event is not used again.
   */
  prune(request: PruneRequest): Promise<{ payloads: number; keys: number; isAtEnd?: boolean }>;
  /** The first payloads, of any endpoint, with a `seq` of at least `from`. */
  payloadSizes(endpoint: string, from: number, limit: number): Promise<PayloadSize[]>;
}
