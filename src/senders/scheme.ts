import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  randomUUID,
  sign,
  timingSafeEqual,
  verify,
  type KeyObject,
} from "node:crypto";
import { SignalboxError } from "../errors.js";
import { parseJson } from "../events/parse-json.js";
import type { HeaderProblem, Signature } from "../signature/header.js";
import { assertSecret, OTHER_HELP } from "../signature/secret.js";
import { headerValue, type RequestHeaders } from "./headers.js";

/**
 * How a sender signs, as data. What does not fit takes a function in place of data.
 *
 * @example
 * // Stripe
 * { header: "stripe-signature", list: { between: ",", assign: "=", signature: "v1", time: "t" }, message: ["time", ".", "body"] }
 * // GitHub
 * { header: "x-hub-signature-256", prefix: "sha256=" }
 */
export interface SignatureScheme {
  /** The header with the signature. */
  readonly header: string;
  /** What stands before the signature in its header. */
  readonly prefix?: string | undefined;
  /** For a header that is a list, such as `t=1,v1=ab,v1=cd`. Each item with the name of the signature is a candidate. */
  readonly list?: SignatureList | undefined;
  /** What is signed, part after part. @default `["body"]` */
  readonly message?:
    readonly MessagePart[] | ((delivery: SignedRequest) => readonly (string | Uint8Array)[] | null) | undefined;
  /** The header with the event's id, for the part `"id"`. */
  readonly id?: string | undefined;
  /** When it was signed; used for the age alone. @default nothing: the sender signs no time */
  readonly time?: SignatureTime | undefined;
  /**
   * HMAC with a hash, or a signature with a public key: `ed25519`, or `ecdsa` (P-256 with SHA-256, in DER).
   *
   * @default "sha256"
   */
  readonly digest?: "sha256" | "sha1" | "sha512" | "ed25519" | "ecdsa" | undefined;
  /** How the signature is written. @default "hex" */
  readonly encoding?: "hex" | "base64" | undefined;
  /**
   * How the secret is written. `text`: its UTF-8 is the key. `base64` and `hex`: of the key's bytes. A public key can also be PEM, or
   * be without its DER header if it is one of Ed25519.
   *
   * @default "text"
   */
  readonly key?: "text" | "base64" | "hex" | undefined;
  /** What stands before a secret in `base64` or `hex`, such as `whsec_`. A secret without it is taken too. */
  readonly keyPrefix?: string | undefined;
}

/** The grammar of a signature header that is a list. */
export interface SignatureList {
  /** The text between two items. */
  readonly between: string;
  /** The text between the name and the value of an item. */
  readonly assign: string;
  /** The name of an item with a signature. */
  readonly signature: string;
  /** The name of the item with the time. */
  readonly time?: string | undefined;
}

/** A part of the signed message by its name; any other text stands for itself. */
export type MessagePart = "id" | "time" | "body" | "url" | (string & {});

/** Where the time of a signature stands: in the list, in a header, or in a property of the JSON body. */
export type SignatureTime = ({ readonly list: true } | { readonly header: string } | { readonly property: string }) & {
  /** @default "seconds" */
  readonly form?: "seconds" | "milliseconds" | "iso" | undefined;
};

/** What `message` as a function gets. */
export interface SignedRequest {
  readonly body: Uint8Array;
  /** The `publicUrl` of the sender with the query of the request; empty without `publicUrl`. */
  readonly url: string;
}

/** More candidates than any sender makes, since each is compared. */
const MOST_CANDIDATES = 16;

const MISSING: HeaderProblem = { ok: false, reason: "signature_missing" };
const MALFORMED: HeaderProblem = { ok: false, reason: "signature_malformed" };

const TIME_FORMS = {
  seconds: { text: /^[0-9]{1,12}$/, seconds: Number, write: (ms: number) => String(Math.floor(ms / 1000)) },
  milliseconds: { text: /^[0-9]{1,15}$/, seconds: (text: string) => Math.floor(Number(text) / 1000), write: String },
  iso: {
    text: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,12})?(Z|[+-]\d\d:\d\d)$/,
    seconds: (text: string) => Math.floor(Date.parse(text) / 1000),
    write: (ms: number) => new Date(ms).toISOString(),
  },
};

const HASH_BYTES = { sha256: 32, sha1: 20, sha512: 64 };

/** @param publicUrl where the sender posts to, for the part `"url"` */
export function compileScheme(scheme: SignatureScheme, publicUrl = "") {
  const { prefix = "", list, message = ["body"], time, digest = "sha256", encoding = "hex" } = scheme;
  const header = scheme.header.toLowerCase();
  const idHeader = scheme.id?.toLowerCase();
  const form = TIME_FORMS[time?.form ?? "seconds"];
  const timeHeader = time !== undefined && "header" in time ? time.header.toLowerCase() : undefined;
  const candidateForm = formOf(digest, encoding);
  const needsId = idHeader !== undefined && typeof message !== "function" && message.includes("id");
  /** Whether it stands outside the body. */
  const isTimeSent = time !== undefined && !("property" in time);
  const origin = publicUrl.split(/[?#]/, 1)[0] as string;

  function messageOf(
    body: Uint8Array,
    named: { id: string; time: string; url: string },
  ): readonly (string | Uint8Array)[] | null {
    if (typeof message === "function") return message({ body, url: named.url });
    return message.map((part) => {
      if (part === "body") return body;
      return part === "id" || part === "time" || part === "url" ? named[part as "id" | "time" | "url"] : part;
    });
  }

  /** @returns the candidates and the time of the list; null for a header that has not the form */
  function parse(value: string): { candidates: string[]; time?: string } | null {
    if (!value.startsWith(prefix)) return null;
    const rest = value.slice(prefix.length);
    if (list === undefined) return candidateForm.test(rest) ? { candidates: [rest] } : null;
    // A header that was sent twice is joined by ", ": a proxy and this receiver could disagree about which value counts.
    if (list.between !== ", " && rest.includes(", ")) return null;
    const found: { candidates: string[]; time?: string } = { candidates: [] };
    for (const item of rest.split(list.between)) {
      const end = item.indexOf(list.assign);
      const [name, text] = [item.slice(0, Math.max(end, 0)), item.slice(end + list.assign.length)];
      if (!/^\w+$/.test(name)) return null;
      if (name === list.time) {
        if (found.time !== undefined) return null;
        found.time = text;
      } else if (name === list.signature && candidateForm.test(text)) found.candidates.push(text);
    }
    return found.candidates.length === 0 || found.candidates.length > MOST_CANDIDATES ? null : found;
  }

  function signature(headers: RequestHeaders, url: string | undefined): Signature | HeaderProblem {
    const value = headerValue(headers, header);
    const id = needsId ? headerValue(headers, idHeader) : "";
    const timeOfHeader = timeHeader === undefined ? "" : headerValue(headers, timeHeader);
    if (value === undefined || id === undefined || timeOfHeader === undefined) return MISSING;
    const parsed = parse(value);
    // With a dot in the id, another place in the signed text could be taken for its end.
    if (parsed === null || id.includes(".")) return MALFORMED;
    const timeText = time !== undefined && "list" in time ? (parsed.time ?? "") : timeOfHeader;
    if (isTimeSent && !form.text.test(timeText)) return MALFORMED;
    const named = { id, time: timeText, url: origin === "" ? "" : origin + queryOf(url) };
    return {
      ok: true,
      matches(body, secret) {
        const parts = messageOf(body, named);
        const key = parts === null ? null : keyOf(scheme, secret, "verify");
        if (parts === null || key === null) return false;
        let matched = false;
        // Every candidate is compared, even after a match: the time taken must not reveal which one matched.
        if (isHash(digest)) {
          const expected = Buffer.from(hmac(digest, key, parts, encoding));
          for (const candidate of parsed.candidates)
            if (timingSafeEqual(expected, Buffer.from(candidate))) matched = true;
        } else {
          for (const candidate of parsed.candidates)
            if (isSigned(digest, key as KeyObject, parts, Buffer.from(candidate, encoding))) matched = true;
        }
        return matched;
      },
      signedAt(body) {
        if (time === undefined) return null;
        return form.seconds("property" in time ? textAt(body, time.property, form.text) : timeText);
      },
    };
  }

  function signWith(
    body: Uint8Array,
    { secret, now, given = {} }: { secret: string; now: number; given?: Readonly<Record<string, string>> },
  ) {
    assertSecret(secret, OTHER_HELP);
    const timeText = form.write(now);
    if (!form.text.test(timeText)) {
      throw new SignalboxError(
        "timestamp_invalid",
        `A signature cannot have the time ${now}.`,
        "Pass milliseconds as Date.now() gives them.",
      );
    }
    const id = idHeader === undefined ? "" : (given[idHeader] ?? `msg_${randomUUID()}`);
    const parts = messageOf(body, { id, time: timeText, url: publicUrl });
    const key = parts === null ? null : keyOf(scheme, secret, "sign");
    if (parts === null || key === null) {
      const help = isHash(digest) ? OTHER_HELP : "Pass the private key as PEM.";
      throw new SignalboxError("secret_invalid", "The sender's signature cannot be made with this secret.", help);
    }
    const text = isHash(digest)
      ? hmac(digest, key, parts, encoding)
      : sign(digest === "ecdsa" ? "sha256" : null, joined(parts), key).toString(encoding);
    const value = list === undefined ? text : listWith(list, text, timeText);
    return {
      ...(idHeader !== undefined && { [idHeader]: id }),
      ...(timeHeader !== undefined && { [timeHeader]: timeText }),
      [header]: prefix + value,
    };
  }

  return {
    /** All of its headers. */
    headers: [header, ...[idHeader, timeHeader].filter((name) => name !== undefined)],
    /** Those without which nothing can be verified. */
    signedHeaders: [header, ...[needsId ? idHeader : undefined, timeHeader].filter((name) => name !== undefined)],
    header,
    secretProblem(secret: string): string | null {
      if (keyOf(scheme, secret, "verify") !== null) return null;
      if (!isHash(digest)) return `expected a public key: PEM, or ${scheme.key ?? "PEM"}`;
      return `expected ${scheme.key}${scheme.keyPrefix === undefined ? "" : ` after ${scheme.keyPrefix}`}`;
    },
    signature,
    sign: signWith,
  };
}

function listWith({ between, assign, signature, time }: SignatureList, text: string, timeText: string): string {
  const items = time === undefined ? [] : [`${time}${assign}${timeText}`];
  return [...items, `${signature}${assign}${text}`].join(between);
}

type Digest = NonNullable<SignatureScheme["digest"]>;
type Hash = keyof typeof HASH_BYTES;

function isHash(digest: Digest): digest is Hash {
  return digest in HASH_BYTES;
}

/** What a signature looks like: of the right length, in lower case, and of base64 only one spelling. */
function formOf(digest: Digest, encoding: "hex" | "base64"): RegExp {
  if (digest === "ecdsa") return encoding === "hex" ? /^(?:[0-9a-f]{2}){8,72}$/ : /^[A-Za-z0-9+/]{11,96}={0,2}$/;
  const bytes = isHash(digest) ? HASH_BYTES[digest] : 64;
  if (encoding === "hex") return new RegExp(`^[0-9a-f]{${2 * bytes}}$`);
  return new RegExp(`^[A-Za-z0-9+/]{${Math.ceil((bytes * 4) / 3)}}={${(3 - (bytes % 3)) % 3}}$`);
}

function hmac(
  hash: Hash,
  key: string | Buffer | KeyObject,
  parts: readonly (string | Uint8Array)[],
  encoding: "hex" | "base64",
): string {
  const made = createHmac(hash, key);
  for (const part of parts) made.update(part);
  return made.digest(encoding);
}

function isSigned(digest: Digest, key: KeyObject, parts: readonly (string | Uint8Array)[], signed: Buffer): boolean {
  try {
    return verify(digest === "ecdsa" ? "sha256" : null, joined(parts), key, signed);
  } catch {
    return false;
  }
}

function joined(parts: readonly (string | Uint8Array)[]): Buffer {
  return Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part)));
}

/** @returns null for a secret that is not a key of the scheme */
function keyOf(
  { key = "text", keyPrefix = "", digest = "sha256" }: SignatureScheme,
  secret: string,
  use: "sign" | "verify",
) {
  if (key === "text" && isHash(digest)) return secret;
  // Supabase shows the version of its signatures in front.
  const shown = keyPrefix === "whsec_" ? secret.replace(/^v1,(?=whsec_)/, "") : secret;
  const text = shown.startsWith(keyPrefix) ? shown.slice(keyPrefix.length) : shown;
  if (!isHash(digest)) return use === "sign" ? privateKey(secret) : publicKey(text, key);
  const form = key === "hex" ? /^(?:[0-9a-fA-F]{2})+$/ : /^[A-Za-z0-9+/]+={0,2}$/;
  return form.test(text) ? Buffer.from(text, key as "hex" | "base64") : null;
}

/** The last keys that were read, since reading one takes longer than a verification. */
const publicKeys = new Map<string, KeyObject | null>();
const MOST_KEYS = 64;

function publicKey(text: string, form: "text" | "base64" | "hex"): KeyObject | null {
  const name = `${form} ${text}`;
  let key = publicKeys.get(name);
  if (key === undefined) {
    key = readPublicKey(text, form);
    if (publicKeys.size >= MOST_KEYS) publicKeys.clear();
    publicKeys.set(name, key);
  }
  return key;
}

/** The DER header of an Ed25519 public key (RFC 8410). */
const ED25519_DER = Buffer.from("302a300506032b6570032100", "hex");

function readPublicKey(text: string, form: "text" | "base64" | "hex"): KeyObject | null {
  try {
    if (form === "text" || text.startsWith("-----BEGIN")) return createPublicKey(text);
    const bytes = Buffer.from(text, form);
    const der = bytes.length === 32 ? Buffer.concat([ED25519_DER, bytes]) : bytes;
    return createPublicKey({ key: der, format: "der", type: "spki" });
  } catch {
    return null;
  }
}

function privateKey(pem: string): KeyObject | null {
  try {
    return createPrivateKey(pem);
  } catch {
    return null;
  }
}

/** @returns NaN's text for a body that has no such property, so that it is of no age */
function textAt(body: Uint8Array, property: string, form: RegExp): string {
  const json = parseJson(body);
  const value: unknown = json.ok ? (json.value as Record<string, unknown> | null)?.[property] : undefined;
  const text = typeof value === "number" ? String(value) : value;
  return typeof text === "string" && form.test(text) ? text : "NaN";
}

function queryOf(url = ""): string {
  const start = url.indexOf("?");
  return start === -1 ? "" : url.slice(start);
}
