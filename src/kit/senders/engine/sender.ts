import type { HeaderProblem, Signature } from "../signature/header.js";
import type { RequestHeaders } from "./headers.js";

/**
 * Who makes deliveries: how they are signed, and how their events are read. `stripe()`, `github()`
 * and others of `signalbox/senders` return one, and `defineSender` makes one of your own. The
 * receiver does everything else.
 *
 * @typeParam Events the sender's events by their type: `{ "invoice.paid": InvoicePaid, … }`
 */
export interface Sender<Events extends object = Record<string, unknown>> {
  /** Kept with each event, such as `stripe`. */
  readonly name: string;
  /** Only a type: it has no value. */
  readonly events?: Events;
}

/*
 * What the receiver and the tools call, and no published type has.
 *
 * @internal
 */
// oxlint-disable-next-line no-unused-vars -- both declarations of an interface must have its parameters
export interface Sender<Events extends object> {
  readonly limits: SenderLimits;
  /** The headers that are stored with an event, in lower case. */
  readonly keptHeaders: readonly string[];
  /**
   * The header with the signature, in lower case: no tool shows its value. Empty: a function of its
   * own verifies.
   */
  readonly signatureHeader: string;
  /** All of its names. */
  readonly signatureHeaders: readonly string[];
  /** The headers without which nothing can be verified, in lower case. */
  readonly signedHeaders: readonly string[];
  /**
   * Whether no signature covers something that `read` uses, so that a captured delivery could get
   * another id, type or subject.
   */
  readonly unsignedId: boolean;
  /**
   * Which of its facts no signature covers. What is read from a signed body needs no comparison.
   */
  readonly unsignedFacts: readonly ("type" | "subtype" | "subject")[];
  /** What becomes of the bytes of a stored event under a new id, with `unsignedId`. */
  readonly repeatedBody: "keep" | "drop";
  /**
   * What a delivery with the id of a stored event and other bytes is. It is not stored in either
   * case, unless `unsignedId`.
   */
  readonly otherBody: "duplicate" | "conflict";
  /** The names of the senders whose stored events it reads: its own, and its earlier ones. */
  readonly reads: readonly string[];
  /** The answer to an accepted event. @default the receiver's own */
  readonly acknowledgement?: HandshakeAnswer | undefined;
  readonly handshake?: SenderHandshake | undefined;
  /** Why this text cannot be a secret of the sender; null when it can. */
  secretProblem(secret: string): string | null;
  /** Reads the signature before the body has arrived. Never throws. */
  signature(headers: RequestHeaders, url: string | undefined): Signature | HeaderProblem;
  /** Reads an authentic or a stored delivery. Never throws. */
  read(delivery: ReadableDelivery): Reading;
  /**
   * Signs, for tests and tools. @throws SignalboxError `secret_invalid`, `timestamp_invalid`,
   * `option_invalid`
   */
  sign(
    body: Uint8Array,
    options: { secret: string; now: number; headers?: Readonly<Record<string, string>> },
  ): Record<string, string>;
  /** An event as the sender makes it. @param now in milliseconds since 1970 */
  sample(now: number): SampleDelivery;
}

/** A sender of any events. */
export type AnySender = Sender<object>;

/** What a sender needs of the receiver; each is the default of the option of this name. */
export interface SenderLimits {
  /**
   * The largest body that it sends, in bytes. @default 5 MiB; 1 MiB for signatures with a key pair
   */
  readonly bodyLimitBytes?: number | undefined;
  /** Milliseconds within which it wants an answer, less a margin for the network. @default 3000 */
  readonly ackTimeoutMs?: number | undefined;
  /**
   * How far the time of a signature may be in the past or in the future, in seconds. A time in the
   * body may be at most 300 in the future.
   *
   * @default 300
   */
  readonly toleranceSeconds?: number | undefined;
}

/**
 * What `read` reads: a delivery that has just been verified, or one that was stored. A copy of this
 * object has neither `json` nor `form`: they are read when they are asked for.
 */
export interface ReadableDelivery {
  readonly body: Uint8Array;
  /** Those of the sender's `headers` that were sent, by their names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /**
   * The body as JSON; of a form its fields, or the JSON of its field `payload`. What is neither is
   * quarantined when this is read.
   */
  // oxlint-disable-next-line typescript/no-explicit-any -- `read` takes what the sender documents; what it returns is checked
  readonly json: any;
  /**
   * The fields of a form (`a=1&b=2`, whatever its `Content-Type`); of a field that is there twice,
   * the last. Empty for JSON.
   */
  readonly form: Readonly<Record<string, string | undefined>>;
}

/**
 * What `read` returns. Id and type are checked: 1 to 255 characters, without control characters.
 */
export interface ReadEvent<Event = unknown> {
  /**
   * The same in each delivery of the event. `null`: the sender has none, and the hash of the body
   * is used.
   */
  id: unknown;
  type: unknown;
  /**
   * A second word for the type, such as GitHub's action: kept for lists and searches, and for
   * `"type.subtype"` in `onEvent`.
   */
  subtype?: unknown;
  /** What the event is about, such as a repository: kept for lists and searches. */
  subject?: unknown;
  /** What the callback gets. @default `json` */
  event?: Event;
}

/** What a delivery contains. */
export type Reading =
  | ({
      kind: "event";
      event: unknown;
      /** Why it is only kept; null to hand it off. */ quarantine: string | null;
    } & EventFacts)
  | { kind: "challenge"; id: string; type: string; answer: Readonly<Record<string, unknown>> }
  | { kind: "unusable"; reason: string };

/** What of an event is kept beside its payload. */
export interface EventFacts {
  /** Null: the sender has none, so the hash of the body is used. */
  id: string | null;
  type: string;
  subtype: string | null;
  subject: string | null;
}

/** The answer to a handshake: JSON, a text, or headers alone. */
export type HandshakeAnswer = (
  | { readonly json: Readonly<Record<string, unknown>> }
  | { readonly text?: string | undefined; readonly contentType?: string | undefined }
) & { readonly headers?: Readonly<Record<string, string>> | undefined };

/** How a sender finds out, before it sends events, that the receiver is ready for them. */
export interface SenderHandshake {
  /**
   * Answers a GET; without it, GET gets 405. `"refused"` is answered 403. `tenant` is empty without
   * that option.
   */
  readonly get?:
    ((query: URLSearchParams, tenant: string) => HandshakeAnswer | "refused") | undefined;
  /**
   * Answers an OPTIONS request, as the abuse protection of CloudEvents wants it; without it,
   * OPTIONS gets 405. `headers` has all of the request, by their names in lower case.
   */
  readonly options?:
    | ((request: {
        headers: Readonly<Record<string, string>>;
        query: URLSearchParams;
      }) => HandshakeAnswer | "refused")
    | undefined;
  /**
   * Answers a POST of at most 1 KiB without any signature, of which nothing is used or stored; null
   * refuses it.
   */
  readonly unsigned?: ((delivery: ReadableDelivery) => HandshakeAnswer | null) | undefined;
  /**
   * Answers an authentic POST; null when it is an event. An answer that is signed with the secret
   * must not be a signature that a delivery could have: refuse such a token.
   */
  readonly post?:
    | ((delivery: ReadableDelivery, secret: string) => HandshakeAnswer | "refused" | null)
    | undefined;
}

/** An event to try a receiver with. */
export interface SampleDelivery {
  /** An object is sent as JSON. */
  readonly body: object | string;
  /** The headers that `read` needs, in addition to the signed ones. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** The events of a union by their `type`. A type that is any text stays so. */
export type EventsByType<Event> = [Event] extends [{ type: infer Type extends string }]
  ? string extends Type
    ? Record<string, Event>
    : { [Each in Type]: Extract<Event, { type: Each }> }
  : Record<string, Event>;
