/** The sender of the events of a receiver without the option `sender`. */
export const DEFAULT_SENDER = "signals";

/** `dueAt` of an event that waits behind another one: the last time that a Date can have. */
export const NEVER = 8.64e15;

export const EVENT_STATES = ["ready", "leased", "done", "dead", "quarantined"] as const;

/**
 * The state of an accepted event.
 *
 * `ready → leased → done`, `leased → ready` (retry, release, expired lease), `leased → dead`, `dead
 * | done → ready` (replay), `dead → done` (discard), `quarantined → ready` (replay, if the event is
 * usable now).
 */
export type EventState = (typeof EVENT_STATES)[number];

/**
 * What is stored of a delivery in addition to its body. The pipeline fills it, stores keep it
 * whole, and `inbox.get` returns it.
 */
export interface ReceivedDelivery {
  /** When the last byte of its body was received, in milliseconds since 1970. */
  at: number;
  /** Some of its headers, by their names in lower case. */
  headers: Readonly<Record<string, string>>;
  /**
   * The trace of its delivery, as a W3C `traceparent` of 55 characters. With the option `telemetry`
   * alone.
   */
  traceParent?: string;
  /** The header with its signature, which no tool shows. Absent for the service's. */
  signatureHeader?: string;
  /** With the option `tenant`. The id of the event begins with it. */
  tenant?: string;
  /** It came by `receiver.accept`, so no signature was verified. */
  backfilled?: true;
}

/**
 * A stored event without its payload, as `list` returns it. Times are in milliseconds since 1970.
 */
export interface InboxEntry {
  seq: number;
  endpoint: string;
  eventId: string;
  type: string;
  state: EventState;
  /**
   * `ready`: when it is due; 8.64e15 while it waits behind another event, with the option
   * `order`. `leased`: when the lease expires. Otherwise: since when it has this
   * state. By the store's clock; for people.
   */
  dueAt: number;
  attempts: number;
  crashes: number;
  possiblyRepeated: boolean;
  replayed: boolean;
  receivedAt: number;
  lastError: string | null;
  /**
   * A second word for the type: `data.signal_type` of a signal, GitHub's action; null when there is
   * none of 1 to 200 usual characters.
   */
  subtype: string | null;
  /**
   * What it is about: `data.product.slug` of a signal, GitHub's repository; null as `subtype` is.
   */
  subject: string | null;
  /** The name of its sender; of the service whose signals are received by default, `signals`. */
  sender: string;
}

/**
 * Whether an event can have this text, as its id for example. A database refuses NUL in a text, and
 * takes half of a surrogate pair for another character.
 */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

/** What happened to a stored event before its present state. */
export interface PastStep {
  /** When, in milliseconds since 1970, by the store's clock; for people. */
  at: number;
  /**
   * `failed`: a hand-off failed. `crashed`: the process died during a hand-off. `replayed`: a
   * person had it handed off again.
   */
  kind: "failed" | "crashed" | "replayed";
  /** The attempts that were used up then; after a replay they are counted from 0 again. */
  attempts: number;
  /** The error of a failed hand-off, as `lastError` has it; null for another step. */
  error: string | null;
}

/** A stored event keeps its newest steps, at most so many. */
export const MOST_PAST_STEPS = 50;

/** A stored event with its payload. */
export interface StoredEvent extends InboxEntry {
  /** Has no headers once the payload is deleted. */
  received: ReceivedDelivery;
  bodyHash: Uint8Array;
  /** Byte for byte as received; null once retention or a discard has deleted it. */
  rawBody: Uint8Array | null;
  /**
   * What happened to it, the oldest step first, at most the newest 50 steps. Deleted together with
   * the payload.
   */
  history: PastStep[];
  /**
   * With the option `order`, of an event that waits: the id of the event before it that is handed
   * off, fails or is dead. Otherwise null.
   */
  waitsBehind: string | null;
  /** With the option `order`: its lane, for a move to another store. Null: it has none. */
  lane: PlacedLane | null;
  /** With the option `order`, of an event that does not wait: how many others wait behind it. */
  heldCount: number;
  /** With the option `coalesce`: how many earlier events its hand-off stands for. */
  earlierCount: number;
}

/** An event in its lane, as JSON can have it. */
export interface PlacedLane {
  /** The hash of its key, in hex. */
  key: string;
  skips: boolean;
  /** Null: it has left the lane. */
  place: "head" | "waiting" | null;
}

/** Selects the entries that `list` returns. */
export interface ListQuery {
  /** @default all endpoints */
  endpoint?: string | undefined;
  state?: EventState | undefined;
  type?: string | undefined;
  /** Only entries with a larger `seq`. For the next page, pass the last `seq` of this page. */
  afterSeq?: number | undefined;
  /** @default 100 */
  limit?: number | undefined;
}

/**
 * Stands for anything in the error of a search, and in the errors of failures for what differs
 * between events.
 */
export const ANYTHING = "…";

/** Selects the entries that `search` returns: those that match everything that is given. */
export interface SearchQuery {
  state?: EventState | undefined;
  /** The type of the event, such as `signal.published`. */
  type?: string | undefined;
  subtype?: string | undefined;
  /** Its type or its subtype, for a person who need not know which it is. */
  typeOrSubtype?: string | undefined;
  subject?: string | undefined;
  /** The beginning of the event's id. */
  eventId?: string | undefined;
  /** A part of its last error, whatever the case of its letters; `…` in it stands for anything. */
  error?: string | undefined;
  /** Only events received before this time, in milliseconds since 1970. */
  receivedBefore?: number | undefined;
  /** Only events received at this time or later. */
  receivedAfter?: number | undefined;
  /** Only entries with a smaller `seq`. For the next page, pass `nextBeforeSeq` of this page. */
  beforeSeq?: number | undefined;
  /** @default 50 */
  limit?: number | undefined;
}

/** A part of the result of a search. */
export interface SearchPage {
  /** The newest first. */
  entries: InboxEntry[];
  /**
   * To continue, pass it as `beforeSeq`; null at the end. One call looks at a bounded number of
   * events, so a page can have fewer entries than `limit`, or none, although others follow.
   */
  nextBeforeSeq: number | null;
}

/**
 * The result of a `replay` or `discard` for one event. `duplicate`: the id in the event's body
 * belongs to another stored event, so this event becomes `done` and is not handed off.
 */
export type MoveOutcome = "moved" | "not_found" | "wrong_state" | "payload_gone" | "duplicate";

/**
 * The result of a `replay` for one event. `still_unusable`: its body cannot be read yet, so it is
 * not changed.
 */
export type ReplayOutcome = MoveOutcome | "still_unusable";

/** The number of events in each state. */
export type StateCounts = Record<EventState, number>;

/** The number of events of one endpoint. */
export interface StoreStats extends StateCounts {
  total: number;
  /** With the option `order`: of the `ready` events, those that wait behind another one. */
  waiting: number;
  /** With the option `order`: the oldest dead event that others wait behind; null: there is none. */
  blocking: BlockingEvent | null;
  /**
   * For how many milliseconds its oldest `ready` event has been due, at least 0; null when there is
   * no `ready` event.
   */
  oldestReadyAgeMs: number | null;
  /**
   * For how many milliseconds the oldest event that waits for its hand-off has been stored; null
   * when none waits. An event that was replayed and had not failed before counts from its replay.
   */
  oldestReceivedAgeMs: number | null;
  /**
   * The minute in which the last new event was accepted, in milliseconds since 1970; null when none
   * was in 8 days.
   */
  lastAcceptedAt: number | null;
}

/** A dead event that others with its key wait behind. */
export interface BlockingEvent {
  eventId: string;
  /** Since when it is dead, in milliseconds since 1970. */
  since: number;
  /** How many wait behind it. */
  count: number;
}

/** How long the oldest event has waited. Null: none waits. */
export type OldestReady = Pick<StoreStats, "oldestReadyAgeMs" | "oldestReceivedAgeMs">;
