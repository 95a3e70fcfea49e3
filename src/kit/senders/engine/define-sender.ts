import { ignore, safely } from "../../../base/errors.js";
import { parseJson, type ParsedJson } from "../../../base/text/parse-json.js";
import { isStorableName } from "../signals/parse-event.js";
import { ALWAYS_KEPT, checkDefinition } from "./check-definition.js";
import { compileScheme, isHash, namesOf, type CompiledScheme } from "./compile-scheme.js";
import { parametersOf } from "./form.js";
import type { PublicUrl, SignatureScheme } from "./scheme.js";
import { compileBasic, compileToken, type BasicScheme, type TokenScheme } from "./secret-header.js";
import type {
  HandshakeAnswer,
  ReadableDelivery,
  ReadEvent,
  Reading,
  SampleDelivery,
  Sender,
  SenderHandshake,
  SenderLimits,
  EventsByType,
} from "./sender.js";
import { compileVerify, type VerifyDelivery } from "./verify-function.js";

/** A sender as data and pure functions. */
export interface SenderDefinition<Event = unknown> extends SenderLimits {
  /** 1 to 50 small letters, digits or hyphens. It is kept with each event. */
  readonly name: string;
  /**
   * The headers that `read` reads. They are stored with the event, so that it can be read again.
   * @default none
   */
  readonly headers?: readonly string[] | undefined;
  /** How it signs; or the header that is the secret itself. Either this or `verify`. */
  readonly signature?: SignatureScheme | TokenScheme | BasicScheme | undefined;
  /**
   * Verifies a delivery, where no data says how: it is authentic if this returns or resolves to
   * `true`. Otherwise, or when it throws, the delivery gets 401; when it takes longer than
   * `ackTimeoutMs`, 503.
   */
  readonly verify?: VerifyDelivery | undefined;
  /**
   * Where the sender posts to, if it signs that address. Never taken from the request, whose `Host`
   * anyone can write.
   */
  readonly publicUrl?: PublicUrl | undefined;
  /**
   * Reads an authentic delivery, and a stored one after a restart: so it must be pure. An event
   * with an id or a type that is no text, and one for which it throws, is stored in quarantine.
   */
  read(delivery: ReadableDelivery): ReadEvent<Event>;
  /**
   * Id, type, subtype or subject stands in a header that is not signed. Then a delivery is a
   * duplicate only if all of them and the body are those of the stored event; with others it is
   * stored too, and reported as `conflict`.
   *
   * @default false
   */
  readonly unsignedId?: boolean | undefined;
  /**
   * With `unsignedId`: which of these stand in a header that is not signed. @default all of them
   */
  readonly unsignedFacts?: readonly ("type" | "subtype" | "subject")[] | undefined;
  /**
   * With `unsignedId`: what becomes of the type and the bytes of a stored event under a new id.
   * `keep`: it is a new event. `drop`: it is a duplicate, for a sender that never makes two events
   * with the same bytes.
   *
   * @default "keep"
   */
  readonly repeatedBody?: "keep" | "drop" | undefined;
  /**
   * What a delivery with a signed id that is known and with another body is. It is not stored.
   * @default "duplicate"
   */
  readonly otherBody?: "duplicate" | "conflict" | undefined;
  /** Earlier names of this sender, whose stored events it reads too. @default none */
  readonly alsoReads?: readonly string[] | undefined;
  readonly handshake?: SenderHandshake | undefined;
  /** What the sender wants as an answer. @default `{"received":true}` */
  readonly acknowledgement?: HandshakeAnswer | undefined;
  /**
   * An event as the sender makes it, for tests and `signalbox send`. @default `{ id, type: "test"
   * }`
   */
  sample?(now: number): SampleDelivery;
}

/** What of an event is kept for lists, which people read. */
const FACT = /^[\p{L}\p{M}\p{N}_.:/@#+-]{1,200}$/u;
const MIB = 1024 * 1024;

/**
 * Makes a sender.
 *
 * @throws SignalboxError `option_unknown`, `option_invalid`
 * @example
 * const acme = defineSender({
 *   name: "acme",
 *   signature: { header: "x-acme-signature", digest: "sha512", encoding: "base64", time: { header: "x-acme-time" }, message: ["time", ":", "body"] },
 *   read: ({ json }) => ({ id: json.id, type: json.type }),
 * });
 */
export function defineSender<Event = unknown>(
  definition: SenderDefinition<Event>,
): Sender<EventsByType<Event>> {
  checkDefinition(definition);
  const { name, handshake, acknowledgement, ackTimeoutMs, toleranceSeconds } = definition;
  // A key pair needs a verification for each candidate.
  const { bodyLimitBytes = isKeyPair(definition) ? MIB : 5 * MIB } = definition;
  const scheme = schemeOf(definition);
  const readHeaders = namesOf(definition.headers);
  const sample = definition.sample?.bind(definition) ?? sampleOf;
  return {
    name,
    limits: { bodyLimitBytes, ackTimeoutMs, toleranceSeconds },
    keptHeaders: [...new Set([...ALWAYS_KEPT, ...scheme.headers, ...readHeaders])],
    signatureHeader: scheme.signatureHeaders[0] ?? "",
    signatureHeaders: scheme.signatureHeaders,
    signedHeaders: scheme.signedHeaders,
    unsignedId: definition.unsignedId ?? false,
    unsignedFacts: definition.unsignedFacts ?? ["type", "subtype", "subject"],
    repeatedBody: definition.repeatedBody ?? "keep",
    otherBody: definition.otherBody ?? "duplicate",
    reads: [name, ...(definition.alsoReads ?? [])],
    acknowledgement,
    handshake: handshake && {
      get: guarded(handshake.get?.bind(handshake), "refused"),
      options: guarded(handshake.options?.bind(handshake), "refused"),
      unsigned: guarded(handshake.unsigned?.bind(handshake), null),
      post: guarded(handshake.post?.bind(handshake), null),
    },
    secretProblem: scheme.secretProblem,
    signature: scheme.signature,
    read: (delivery) => readWith((content) => definition.read(content), delivery),
    sign(body, { secret, now, headers = {} }) {
      const own = lowerCase(headers);
      // Those of the sample only where none of the sender's is given: they would name another
      // event.
      const given = readHeaders.some((header) => header in own)
        ? own
        : { ...lowerCase(sample(now).headers ?? {}), ...own };
      return { ...given, ...scheme.sign(body, { secret, now, given }) };
    },
    sample,
  };
}

function schemeOf({ signature, verify, publicUrl }: SenderDefinition): CompiledScheme {
  if (verify !== undefined) return compileVerify(verify, publicUrl);
  if (signature !== undefined && "basic" in signature) return compileBasic(signature);
  if (signature !== undefined && "token" in signature) return compileToken(signature);
  return compileScheme(signature as SignatureScheme, publicUrl);
}

function isKeyPair({ signature }: SenderDefinition): boolean {
  const { digest = "sha256" } = { ...(signature as SignatureScheme | undefined) };
  return typeof digest === "string" && !isHash(digest);
}

/**
 * Names in another spelling would be a second header, and the receiver would read the one that was
 * meant to be replaced.
 */
function lowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}

/**
 * @param otherwise the answer when it throws, such as for a body that is no JSON, which `read` then
 * refuses
 */
function guarded<Args extends unknown[], Answer>(
  hook: ((...args: Args) => Answer) | undefined,
  otherwise: Answer,
): ((...args: Args) => Answer) | undefined {
  return hook && ((...args) => safely(() => settled(hook(...args)), otherwise));
}

/**
 * The type forbids a promise. The rejection of one must not end the process. @throws for a promise
 */
export function settled<Result>(result: Result): Result {
  if (!(result instanceof Promise)) return result;
  result.catch(ignore);
  throw new TypeError("It must not be async.");
}

function readWith(
  read: (delivery: ReadableDelivery) => ReadEvent,
  delivery: ReadableDelivery,
): Reading {
  try {
    const { id, type, subtype, subject, event } = settled(read(delivery));
    if (id !== null && !isStorableName(id))
      return { kind: "unusable", reason: "event_invalid: id" };
    if (!isStorableName(type)) return { kind: "unusable", reason: "event_invalid: type" };
    return {
      kind: "event",
      id,
      type,
      subtype: factOf(subtype),
      subject: factOf(subject),
      event: event ?? delivery.json,
      quarantine: null,
    };
  } catch (error) {
    // The message of the error may quote the body.
    return {
      kind: "unusable",
      reason: error instanceof Unreadable ? error.reason : "event_invalid",
    };
  }
}

/**
 * A text that has its sender's grammar; undefined for any other, so that the delivery is
 * quarantined.
 */
export function matching(grammar: RegExp, text: string | undefined): string | undefined {
  return text !== undefined && grammar.test(text) ? text : undefined;
}

function factOf(value: unknown): string | null {
  return typeof value === "string" && FACT.test(value) ? value : null;
}

class Unreadable extends Error {
  constructor(readonly reason: string) {
    super(reason);
  }
}

/** A delivery whose body is parsed when it is first asked for. */
export function readable(
  body: Uint8Array,
  headers: Readonly<Record<string, string | undefined>>,
): ReadableDelivery {
  return new LazyContent(body, headers);
}

/**
 * A class, because each object literal with getters gets a hidden class of its own, which cost a
 * delivery 8 µs.
 */
class LazyContent implements ReadableDelivery {
  #parsed: ParsedJson | null = null;
  #form: Readonly<Record<string, string | undefined>> | null = null;

  constructor(
    readonly body: Uint8Array,
    readonly headers: Readonly<Record<string, string | undefined>>,
  ) {}

  get json(): unknown {
    const { form } = this;
    const { payload } = form;
    if (form !== NO_FORM && payload === undefined) return form;
    const parsed = (this.#parsed ??= parseJson(
      payload === undefined ? this.body : Buffer.from(payload),
    ));
    if (!parsed.ok) throw new Unreadable(parsed.reason);
    // A bare word is no event of any sender, but can be the token of a handshake, whose answer may
    // be its digest.
    if (typeof parsed.value !== "object" || parsed.value === null)
      throw new Unreadable("not_an_object");
    return parsed.value;
  }

  get form(): Readonly<Record<string, string | undefined>> {
    return (this.#form ??= this.#readForm());
  }

  #readForm(): Readonly<Record<string, string | undefined>> {
    const { body } = this;
    const start = Buffer.from(
      body.buffer,
      body.byteOffset,
      Math.min(body.byteLength, LONGEST_FIELD),
    );
    if (!FORM.test(start.toString("latin1"))) return NO_FORM;
    const parameters = parametersOf(body);
    if (parameters === null) throw new Unreadable("too_many_parameters");
    return Object.fromEntries(parameters);
  }
}

// The bytes alone tell a form from JSON. The header Content-Type is not signed: with another one, a
// captured text with `&payload=` in it would become an event.
const FORM = /^[\w.%+[\]-]+=/;
const LONGEST_FIELD = 200;
const NO_FORM: Readonly<Record<string, string | undefined>> = {};

function sampleOf(now: number): SampleDelivery {
  return { body: { id: `evt_${now}`, type: "test" } };
}
