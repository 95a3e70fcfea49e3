import { timingSafeEqual } from "node:crypto";
import { signatureDigest } from "./digest.js";
import { parseSignatureHeader } from "./header.js";
import { isUsableSecret } from "./secret.js";

/** Why a delivery's signature was refused; also the `code` of the 401 answer. */
export type SignatureProblem =
  "signature_missing" | "signature_malformed" | "signature_mismatch" | "timestamp_out_of_tolerance";

/** Whether a signature is right, and if not, why. */
export type Verification =
  | {
      ok: true;
      /** Unix seconds at which the sender signed. */
      timestamp: number;
      /** Index in `secrets` of the one that matched. */
      secretIndex: number;
    }
  | { ok: false; reason: SignatureProblem };

/** What `verifySignature` looks at. */
export interface VerifySignatureInput {
  /** The value of `X-Service-Signature`, `undefined` when the request had none. */
  header: string | undefined;
  /** The bytes as received: not decoded, not parsed, not inflated. */
  body: Uint8Array;
  /** All that may have signed. Blank ones never match. */
  secrets: readonly string[];
  /** Allowed distance between t and now, in seconds, inclusive and in both directions. @default 300 */
  toleranceSeconds?: number;
  /** The current time: milliseconds as `Date.now()` gives them, or Unix seconds. @default Date.now() */
  now?: number;
}

// Both digests as hex text. Used by one call at a time: nothing here waits.
const DIGEST_HEX_BYTES = 64;
const expected = Buffer.allocUnsafeSlow(DIGEST_HEX_BYTES);
const received = Buffer.allocUnsafeSlow(DIGEST_HEX_BYTES);

/** The signature age that the service's document sets (Events, rule 3). */
export const DEFAULT_TOLERANCE_SECONDS = 300;

/**
 * Checks a delivery's signature (service document, Events, rules 1 to 3). Pure and total: it never throws,
 * and whatever does not verify is a value with its reason.
 *
 * The digest is checked before the age, so `timestamp_out_of_tolerance` is only ever said of a delivery
 * that was really signed with one of the secrets: it means skewed clocks or a replayed capture, not a forgery.
 *
 * @example
 * const verification = verifySignature({ header, body, secrets: [secret] });
 * if (!verification.ok) console.warn(verification.reason);
 */
export function verifySignature(input: VerifySignatureInput): Verification {
  const parsed = parseSignatureHeader(input.header);
  if (!parsed.ok) return parsed;
  // A caller without types may pass a parsed body, or one secret as text: nothing that could have been signed with.
  if (!ArrayBuffer.isView(input.body) || !Array.isArray(input.secrets)) {
    return { ok: false, reason: "signature_mismatch" };
  }

  received.write(parsed.digestHex, "latin1");
  let secretIndex = -1;
  // Every secret is tried, found or not: the time taken must not tell which one matched.
  for (let index = 0; index < input.secrets.length; index++) {
    const secret: unknown = input.secrets[index];
    if (!isUsableSecret(secret)) continue;
    expected.write(signatureDigest(secret, parsed.timestampText, input.body), "latin1");
    if (timingSafeEqual(expected, received)) secretIndex = index;
  }
  if (secretIndex === -1) return { ok: false, reason: "signature_mismatch" };

  // Written so that a NaN (a broken clock) is refused.
  if (
    !(ageInSeconds(parsed.timestamp, input.now ?? Date.now()) <= (input.toleranceSeconds ?? DEFAULT_TOLERANCE_SECONDS))
  ) {
    return { ok: false, reason: "timestamp_out_of_tolerance" };
  }
  return { ok: true, timestamp: parsed.timestamp, secretIndex };
}

/**
 * `now` is in milliseconds or in seconds, whichever reading is nearer to t. No clock in use can confuse them:
 * its milliseconds read as seconds have 13 digits, which no t has; its seconds read as milliseconds are January
 * 1970, of which there is no signature.
 */
function ageInSeconds(timestamp: number, now: number): number {
  return Math.min(Math.abs(Math.floor(now / 1000) - timestamp), Math.abs(Math.floor(now) - timestamp));
}
