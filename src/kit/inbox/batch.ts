import type { EarlierEvents, Lane } from "./lane.js";
import type { ReceivedDelivery } from "./stored-events.js";

/** An event that is to be stored. */
export interface NewEvent {
  /**
   * The envelope's id; for unusable bytes, `sha256:<hex of the body>`; or what {@link ownIdOf} made
   * of it.
   */
  eventId: string;
  /** The envelope's type; empty for unusable bytes. */
  type: string;
  /**
   * It is in this state from now on. `ready`: due now. `leased`: this process's dispatcher holds it
   * from the start.
   */
  state: "ready" | "leased" | "done" | "quarantined";
  /**
   * How long the lease of a `leased` event lasts, in milliseconds; null for an event in another
   * state.
   */
  leaseMs: number | null;
  /**
   * A store can keep it as JSON. Its time is by the clock of the process, so nothing may depend on
   * it.
   */
  received: ReceivedDelivery;
  /** SHA-256 of the body. */
  bodyHash: Uint8Array;
  body: Uint8Array;
  /**
   * Why the event is in quarantine, or why it is `done` at once; null for an event in another
   * state.
   */
  reason: string | null;
  /** As `InboxEntry` has them. */
  subtype: string | null;
  subject: string | null;
  /** As `InboxEntry` has it; null for {@link DEFAULT_SENDER}. */
  sender: string | null;
  /**
   * An event with the content key of a stored one is its duplicate, whatever its id. Null: its id
   * alone counts.
   */
  contentKey: Uint8Array | null;
  possiblyRepeated: boolean;
  /** Absent, or null: it has no order. */
  lane?: Lane | null;
}

/** What of an event is kept beside its id and body, and can stand where no signature covers it. */
export type Fact = "type" | "subtype" | "subject";

/** The result for one new event of a batch. */
export type AcceptResult =
  | {
      status: "accepted";
      seq: number;
      /** The token of its lease; 0 for an event that is not `leased`, or waits in its lane. */
      token: number;
    }
  | {
      status: "duplicate";
      seq: number;
      /**
       * False when the stored event has another body. The stored body is kept, and the new one is
       * dropped.
       */
      sameBody: boolean;
      /**
       * The stored event has this key of the new one, but another type, subtype or subject, or
       * another body; null when all are the same. It is for the caller to say whether the two are
       * one event.
       */
      otherThan: "id" | "content" | null;
      /** The stored event came by `receiver.accept`, whose bytes are not those of a delivery. */
      isBackfilled: boolean;
      /** Those of its facts that are other ones. */
      differing: readonly Fact[];
    };

/**
 * Ends one lease. The store writes these values into the event, and computes nothing but the time.
 */
export interface Settlement {
  seq: number;
  /** The fencing token of the lease. */
  token: number;
  state: "ready" | "done" | "dead";
  /**
   * After how many milliseconds a `ready` event is due; 0 for an event in another state. Negative
   * for an event that is released: it has been due for so long, and keeps its place in the queue.
   */
  delayMs: number;
  attempts: number;
  possiblyRepeated: boolean;
  /** At most 4,000 UTF-16 units, well-formed and without NUL. Null keeps the previous error. */
  lastError: string | null;
  /**
   * The callback has read `completeSql`, so a transaction of its own may have ended this lease, or
   * may hold the row now.
   */
  mayBeCompleted?: boolean;
  /** As `received` of the event has it; see G14 of the port. */
  receivedAt: number;
  /** As the event has it; see G17. */
  lane?: Lane["key"] | null;
}

/**
 * Whether a settlement was applied; see `commit`. `completed` and `locked` are only for a
 * settlement with `mayBeCompleted`. `completed`: the callback's transaction has made the event
 * `done`, although the settlement says otherwise. `locked`: that transaction is still open. In both
 * cases nothing was changed.
 */
export type SettleResult = boolean | "completed" | "locked";

/** Asks for events that are due. */
export interface ClaimRequest {
  /**
   * How long the leases last, in milliseconds. Only a store with `shared: true` reclaims expired
   * leases.
   */
  leaseMs: number;
  limit: number;
  /**
   * The `seq` of each event that the claimer holds. With `shared: true` these are not reclaimed,
   * even if their lease expired.
   */
  held: readonly number[];
}

/** An event that a dispatcher has claimed. */
export interface ClaimedEvent extends Pick<
  NewEvent,
  "eventId" | "type" | "sender" | "received" | "body" | "possiblyRepeated"
> {
  seq: number;
  token: number;
  /** Attempts that were used up before this lease. */
  attempts: number;
  replayed: boolean;
  /** The key of its lane. Absent, or null: it has none. */
  lane?: Lane["key"] | null;
  /** For how many milliseconds it had been due when this lease began, by the store's clock. */
  dueForMs: number;
  /** Absent, or null: it is no burst, or the only event of one. */
  earlier?: EarlierEvents | null;
}

/** An event that a crash made dead. */
export type CrashedEvent = Pick<ClaimedEvent, "seq" | "eventId" | "type" | "attempts">;

/** The result of a claim. */
export interface ClaimResult {
  events: ClaimedEvent[];
  /** Events that became dead, because their lease expired for the fifth time. */
  dead: CrashedEvent[];
  /**
   * In how many milliseconds the next `ready` event that is not due yet becomes due; null when
   * there is none.
   */
  nextDueInMs: number | null;
}

/**
 * The content of one commit, all of one endpoint. The settlements are applied first, then the
 * accepts, then the claim.
 */
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
  /** How many events that waited in their lanes are due now. Absent: 0. */
  promoted?: number;
  /** How many events another one of their burst has superseded. Absent: 0. */
  superseded?: number;
}
