import { createHmac, randomUUID, sign, timingSafeEqual, verify, type KeyObject } from "node:crypto";
import { safely, SignalboxError } from "../../../base/errors.js";
import { parseJson } from "../../../base/text/parse-json.js";
import type { HeaderProblem, Signature } from "../signature/header.js";
import { assertSecret, OTHER_HELP } from "../signature/sign.js";
import { headerValueOf, type RequestHeaders } from "./headers.js";
import { hmacKey, LEAST_KEY_BYTES, privateKey, publicKey, type KeyPairDigest } from "./keys.js";
import {
  type SignatureScheme,
  type SignatureEncoding,
  type SignatureList,
  type SignedText,
  type SignedTexts,
  type PublicUrl,
  HASH_BYTES,
  type Hash,
} from "./scheme.js";

/** How the authenticity of a sender's deliveries is checked; see `Sender`. */
export interface CompiledScheme {
  readonly headers: readonly string[];
  readonly signedHeaders: readonly string[];
  readonly signatureHeaders: readonly string[];
  secretProblem(secret: string): string | null;
  signature(headers: RequestHeaders, url: string | undefined): Signature | HeaderProblem;
  sign(body: Uint8Array, options: SigningOptions): Record<string, string>;
}

interface SigningOptions {
  secret: string;
  now: number;
  given: Readonly<Record<string, string>>;
}

/**
 * More candidates than any sender makes, since each is compared. With a key pair each takes a
 * verification.
 */
const MOST_CANDIDATES = 16;

const MOST_VERIFICATIONS = 4;

/**
 * A time in the body can be old, since the sender sends the same bytes again. In the future it is
 * only what clocks differ by.
 */
const MOST_SECONDS_AHEAD = 300;

const MISSING: HeaderProblem = { ok: false, reason: "signature_missing" };

const MALFORMED: HeaderProblem = { ok: false, reason: "signature_malformed" };

const TIME_FORMS = {
  seconds: {
    text: /^[0-9]{1,12}$/,
    seconds: Number,
    write: (ms: number) => String(Math.floor(ms / 1000)),
  },
  milliseconds: {
    text: /^[0-9]{1,15}$/,
    seconds: (text: string) => Math.floor(Number(text) / 1000),
    write: String,
  },
  iso: {
    text: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,12})?(Z|[+-]\d\d:\d\d)$/,
    seconds: (text: string) => Math.floor(Date.parse(text) / 1000),
    write: (ms: number) => new Date(ms).toISOString(),
  },
};

/** How each time in ISO 8601 begins. */
const DATE = /\d{4}-\d\d-\d\dT/;

export const namesOf = (header: string | readonly string[] | undefined): string[] =>
  [header ?? []].flat().map((name) => name.toLowerCase());

export function compileScheme(scheme: SignatureScheme, publicUrl: PublicUrl = ""): CompiledScheme {
  const {
    prefix = "",
    list,
    message = ["body"],
    time,
    digest = "sha256",
    encoding = "hex",
    key: keyForm = "text",
    keyPrefix = "",
  } = scheme;
  const headers = namesOf(scheme.header);
  const idHeaders = namesOf(scheme.id);
  const form = TIME_FORMS[time?.form ?? "seconds"];
  const timeHeaders = time !== undefined && "header" in time ? namesOf(time.header) : [];
  const kinds = [digest].flat().map((each) => ({ digest: each, form: formOf(each, encoding) }));
  const [{ digest: first }] = kinds as [(typeof kinds)[0]];
  const isKeyPair = kinds.some((kind) => !isHash(kind.digest));
  const needsId = typeof message !== "function" && message.includes("id");
  const separators =
    typeof message === "function"
      ? []
      : message.filter((part) => part !== "" && !NAMED_PARTS.has(part));
  /** Whether it stands outside the body. */
  const isTimeSent = time !== undefined && !("property" in time);

  function textsOf(
    body: Uint8Array,
    named: Record<string, string>,
    requestUrl?: string,
  ): readonly SignedText[] {
    if (typeof message === "function") {
      const texts =
        safely(() => message({ body, url: named["url"] ?? "", requestUrl }), null) ?? [];
      return isOneText(texts) ? [texts] : texts;
    }
    return [
      message.map((part) =>
        part === "body" ? body : NAMED_PARTS.has(part) ? (named[part] ?? "") : part,
      ),
    ];
  }

  const isCandidate = (text: string): boolean => kinds.some((kind) => kind.form.test(text));

  /** @returns the candidates and the time of the list; null for a header that has not the form */
  function parse(value: string): { candidates: string[]; time?: string } | null {
    if (!value.startsWith(prefix)) return null;
    const rest = value.slice(prefix.length);
    if (list === undefined) return isCandidate(rest) ? { candidates: [rest] } : null;
    // A header that was sent twice is joined by ", ": a proxy and this receiver could disagree
    // about which value counts. But Supabase joins the signatures of two secrets so, which differ.
    const isJoined = list.between !== ", " && rest.includes(", ");
    if (isJoined && list.between !== " ") return null;
    const found: { candidates: string[]; time?: string } = { candidates: [] };
    for (const item of (isJoined ? rest.replaceAll(", ", " ") : rest).split(list.between)) {
      const { assign } = list;
      const end = assign === undefined ? 0 : item.indexOf(assign);
      const name = assign === undefined ? list.signature : item.slice(0, Math.max(end, 0));
      const text = item.slice(end + (assign?.length ?? 0));
      if (name !== undefined && !/^\w+$/.test(name)) return null;
      if (name !== undefined && name === list.time) {
        if (found.time !== undefined) return null;
        found.time = text;
      } else if (name === list.signature && isCandidate(text)) found.candidates.push(text);
    }
    if (isJoined && new Set(found.candidates).size < found.candidates.length) return null;
    const most = isKeyPair ? MOST_VERIFICATIONS : MOST_CANDIDATES;
    return found.candidates.length === 0 || found.candidates.length > most ? null : found;
  }

  function isSignedBy(
    secret: string,
    texts: readonly SignedText[],
    candidates: readonly string[],
  ): boolean {
    let matched = false;
    // Every candidate is compared, even after a match: the time taken must not reveal which one
    // matched.
    for (const kind of kinds) {
      const fitting = candidates.filter((candidate) => kind.form.test(candidate));
      if (fitting.length === 0) continue;
      const key = isHash(kind.digest)
        ? hmacKey(secret, keyForm, keyPrefix)
        : publicKey(secret, kind.digest, keyForm, keyPrefix);
      if (key === null) continue;
      for (const text of texts) {
        const expected = isHash(kind.digest)
          ? Buffer.from(hmac(kind.digest, key, text, encoding))
          : null;
        for (const candidate of fitting) {
          const isRight =
            expected === null
              ? isSigned(
                  kind.digest as KeyPairDigest,
                  key as KeyObject,
                  text,
                  Buffer.from(candidate, encoding),
                )
              : timingSafeEqual(expected, Buffer.from(unpadded(candidate, encoding)));
          if (isRight) matched = true;
        }
      }
    }
    return matched;
  }

  function signature(sent: RequestHeaders, requestUrl = ""): Signature | HeaderProblem {
    const value = headerValueOf(sent, headers);
    const id = needsId ? headerValueOf(sent, idHeaders) : "";
    const timeOfHeader = timeHeaders.length === 0 ? "" : headerValueOf(sent, timeHeaders);
    if (value === undefined || id === undefined || timeOfHeader === undefined) return MISSING;
    const parsed = value === null ? null : parse(value);
    if (parsed === null || id === null || timeOfHeader === null) return MALFORMED;
    // With a separator in the id, another place in the signed text could be taken for its end.
    if (separators.some((separator) => id.includes(separator))) return MALFORMED;
    // So could a time in the body, in place of the signed one.
    if (time?.form === "iso" && DATE.test(id)) return MALFORMED;
    const timeText = time !== undefined && "list" in time ? (parsed.time ?? "") : timeOfHeader;
    if (isTimeSent && !form.text.test(timeText)) return MALFORMED;
    const url = addressOf(publicUrl, requestUrl);
    const named = { id, time: timeText, url: url ?? "" };
    let texts: { of: Uint8Array; are: readonly SignedText[] } | null = null;
    return {
      ok: true,
      secondsAhead: isTimeSent ? undefined : MOST_SECONDS_AHEAD,
      matches(body, secret) {
        // Once for all secrets.
        if (texts?.of !== body)
          texts = { of: body, are: url === null ? [] : textsOf(body, named, requestUrl) };
        return isSignedBy(secret, texts.are, parsed.candidates);
      },
      signedAt(body) {
        if (time === undefined) return null;
        return form.seconds("property" in time ? textAt(body, time.property, form.text) : timeText);
      },
    };
  }

  function signWith(body: Uint8Array, { secret, now, given }: SigningOptions) {
    assertSecret(secret, OTHER_HELP);
    const timeText = form.write(now);
    if (!form.text.test(timeText)) {
      throw new SignalboxError(
        "timestamp_invalid",
        `A signature cannot have the time ${now}.`,
        "Pass milliseconds as Date.now() gives them.",
      );
    }
    const idHeader = idHeaders.find((name) => given[name] !== undefined) ?? idHeaders[0];
    const id = idHeader === undefined ? "" : (given[idHeader] ?? `msg_${randomUUID()}`);
    const header = headers.find((name) => given[name] !== undefined) ?? headers[0] ?? "";
    const [text] = textsOf(body, { id, time: timeText, url: addressOf(publicUrl, "") ?? "" });
    const key = isHash(first) ? hmacKey(secret, keyForm, keyPrefix) : privateKey(secret, first);
    if (text === undefined || key === null) {
      const help = isHash(first)
        ? OTHER_HELP
        : "Pass the private key as PEM; the receiver has the public key of the same pair.";
      throw new SignalboxError(
        "secret_invalid",
        "The sender's signature cannot be made with this secret.",
        help,
      );
    }
    const made = isHash(first)
      ? hmac(first, key, text, encoding)
      : sign(hashOf(first), joined(text), key).toString(encoding);
    return {
      ...(idHeader !== undefined && { [idHeader]: id }),
      ...Object.fromEntries(timeHeaders.slice(0, 1).map((name) => [name, timeText])),
      [header]: prefix + (list === undefined ? made : listWith(list, made, timeText)),
    };
  }

  return {
    headers: [...headers, ...idHeaders, ...timeHeaders],
    signedHeaders: [
      headers[0] as string,
      ...(needsId ? idHeaders.slice(0, 1) : []),
      ...timeHeaders,
    ],
    signatureHeaders: headers,
    secretProblem(secret: string): string | null {
      if (isHash(first)) {
        if (hmacKey(secret, keyForm, keyPrefix) !== null) return null;
        const place = keyPrefix === "" ? "" : ` after ${keyPrefix}`;
        return `expected ${keyForm}${place}, of at least ${LEAST_KEY_BYTES} bytes`;
      }
      if (publicKey(secret, first, keyForm, keyPrefix) !== null) return null;
      const forms = keyForm === "text" ? "PEM" : `PEM or ${keyForm}`;
      return `expected the public key of the sender, as ${forms} (kind: ${first})`;
    },
    signature,
    sign: signWith,
  };
}

const NAMED_PARTS = new Set(["id", "time", "body", "url"]);

/** @returns null for a request that the sender cannot have made */
export function addressOf(publicUrl: PublicUrl, requestUrl: string): string | null {
  if (typeof publicUrl === "string") return publicUrl;
  const made: unknown = safely(() => publicUrl({ url: requestUrl }), null);
  return typeof made === "string" && made !== "" ? made : null;
}

function isOneText(texts: SignedTexts): texts is SignedText {
  return texts.length > 0 && !Array.isArray(texts[0]);
}

function listWith(
  { between, assign, signature, time }: SignatureList,
  text: string,
  timeText: string,
): string {
  const items = time === undefined ? [] : [`${time}${assign}${timeText}`];
  return [...items, assign === undefined ? text : `${signature}${assign}${text}`].join(between);
}

type Digest = Hash | KeyPairDigest;

export function isHash(digest: Digest): digest is Hash {
  return digest in HASH_BYTES;
}

/** The hash that Node needs beside a key of the kind. */
function hashOf(digest: KeyPairDigest): string | null {
  return digest === "ed25519" ? null : "sha256";
}

/** The least and the most bytes of a signature. */
const SIGNATURE_BYTES = { ed25519: [64, 64], ecdsa: [8, 72], "rsa-sha256": [128, 1024] } as const;

/**
 * What a signature looks like: of the right length, in lower case, and of base64 only one spelling.
 */
function formOf(digest: Digest, encoding: SignatureEncoding): RegExp {
  const [least, most] = isHash(digest)
    ? [HASH_BYTES[digest], HASH_BYTES[digest]]
    : SIGNATURE_BYTES[digest];
  if (encoding === "hex") return new RegExp(`^(?:[0-9a-f]{2}){${least},${most}}$`);
  const [fewest, longest] = [Math.ceil((least * 4) / 3), Math.ceil((most * 4) / 3)];
  if (encoding === "base64url") return new RegExp(`^[A-Za-z0-9_-]{${fewest},${longest}}={0,2}$`);
  const padding = least === most ? `={${(3 - (least % 3)) % 3}}` : "={0,2}";
  return new RegExp(`^[A-Za-z0-9+/]{${fewest},${longest}}${padding}$`);
}

/** Some senders pad base64url, others do not. */
function unpadded(candidate: string, encoding: SignatureEncoding): string {
  return encoding === "base64url" ? candidate.replace(/=+$/, "") : candidate;
}

function hmac(
  hash: Hash,
  key: string | Buffer | KeyObject,
  text: SignedText,
  encoding: SignatureEncoding,
): string {
  const made = createHmac(hash, key);
  for (const part of text) made.update(part);
  return made.digest(encoding);
}

function isSigned(
  digest: KeyPairDigest,
  key: KeyObject,
  text: SignedText,
  signed: Buffer,
): boolean {
  return safely(() => verify(hashOf(digest), joined(text), key, signed), false);
}

function joined(text: SignedText): Buffer {
  return Buffer.concat(text.map((part) => (typeof part === "string" ? Buffer.from(part) : part)));
}

/** @returns NaN's text for a body that has no such property, so that it is of no age */
function textAt(body: Uint8Array, property: string, form: RegExp): string {
  const json = parseJson(body);
  const value: unknown = json.ok
    ? (json.value as Record<string, unknown> | null)?.[property]
    : undefined;
  const text = typeof value === "number" ? String(value) : value;
  return typeof text === "string" && form.test(text) ? text : "NaN";
}
