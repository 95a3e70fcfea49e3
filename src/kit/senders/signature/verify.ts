import { parseSignatureHeader, type Signature } from "./header.js";
import { isUsableSecret } from "./sign.js";

/** Why a delivery's signature was refused; also the `code` of the 401 answer. */
export type SignatureProblem =
  "signature_missing" | "signature_malformed" | "signature_mismatch" | "timestamp_out_of_tolerance";

/** Whether a signature is valid, and if not, why. */
export type Verification =
  | {
      ok: true;
      /** Unix seconds at which the sender signed. */
      timestamp: number;
      /** The index of the matching secret in `secrets`. */
      secretIndex: number;
    }
  | { ok: false; reason: SignatureProblem };

/** The arguments of `verifySignature`. */
export interface VerifySignatureInput {
  /** The value of `X-Service-Signature`; `undefined` when the request had none. */
  header: string | undefined;
  /** The bytes as received: not decoded, not parsed, not inflated. */
  body: Uint8Array;
  /**
   * One of these secrets must have signed the delivery. A secret of only white space never matches.
   */
  secrets: readonly string[];
  /** How far t may be in the past or in the future, in seconds, inclusive. @default 300 */
  toleranceSeconds?: number;
  /** The current time in milliseconds since 1970. @default Date.now() */
  now?: number;
}

/** The largest age of a signature in the service's document (Events, rule 3). */
export const DEFAULT_TOLERANCE_SECONDS = 300;
/** In bytes; an HMAC of Node takes no more. */
const LONGEST_BODY = 2 ** 31 - 1;

/**
 * Checks a delivery's signature (service document, Events, rules 1 to 3). It never throws: a
 * refusal is a value with its reason.
 *
 * The digest is checked before the age. So `timestamp_out_of_tolerance` means that the delivery was
 * signed with one of the secrets: either a clock is wrong, or an old delivery was captured and sent
 * again.
 *
 * @example
 * const verification = verifySignature({ header, body, secrets: [secret] });
 * if (!verification.ok) console.warn(verification.reason);
 */
export function verifySignature(input: VerifySignatureInput): Verification {
  // `?.`, because a caller without types may pass nothing.
  const parsed = parseSignatureHeader((input as VerifySignatureInput | undefined)?.header);
  return parsed.ok ? (verifyParsedSignature(parsed, input) as Verification) : parsed;
}

/**
 * What {@link verifyParsedSignature} finds. `timestamp` is null for a sender that signs no time.
 */
export type SecretMatch =
  | { ok: true; timestamp: number | null; secretIndex: number }
  | { ok: false; reason: SignatureProblem };

/** The same for a header that was parsed before, of whichever sender. */
export function verifyParsedSignature(
  signature: Signature,
  input: Omit<VerifySignatureInput, "header">,
): SecretMatch {
  // A caller without types may pass a parsed body, or one secret as a text, whose letters would be
  // tried as secrets.
  if (
    !ArrayBuffer.isView(input.body) ||
    input.body.byteLength > LONGEST_BODY ||
    !Array.isArray(input.secrets)
  ) {
    return { ok: false, reason: "signature_mismatch" };
  }

  let secretIndex = -1;
  // Every secret is tried, even after a match: the time taken must not reveal which one matched.
  for (let index = 0; index < input.secrets.length; index++) {
    const secret: unknown = input.secrets[index];
    if (isUsableSecret(secret) && signature.matches(input.body, secret)) secretIndex = index;
  }
  if (secretIndex === -1) return { ok: false, reason: "signature_mismatch" };

  const timestamp = signature.signedAt(input.body);
  if (timestamp === null) return { ok: true, timestamp, secretIndex };
  const now = input.now ?? Date.now();
  const toleranceSeconds = input.toleranceSeconds ?? DEFAULT_TOLERANCE_SECONDS;
  const secondsAhead =
    toleranceSeconds === Infinity ? Infinity : (signature.secondsAhead ?? Infinity);
  // Arithmetic with a BigInt or a symbol would throw. The comparison is false for NaN from a broken
  // clock.
  const isFresh =
    typeof now === "number" &&
    typeof toleranceSeconds === "number" &&
    Math.abs(Math.floor(now / 1000) - timestamp) <= toleranceSeconds &&
    timestamp - Math.floor(now / 1000) <= secondsAhead;
  if (!isFresh) return { ok: false, reason: "timestamp_out_of_tolerance" };
  return { ok: true, timestamp, secretIndex };
}
