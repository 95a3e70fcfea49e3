import { parseSignatureHeader } from "../../signature/header.js";
import { DEFAULT_TOLERANCE_SECONDS, verifySignature, type SignatureProblem } from "../../signature/verify.js";
import { findHeaderFault } from "./fix-header.js";
import { REMAINING_CAUSES, suspectMismatch } from "./suspect-mismatch.js";

export interface VerificationInput {
  header: string;
  body: Buffer;
  secrets: readonly string[];
  toleranceSeconds: number;
  nowSeconds: number;
}

/** What `verify` says. No text in it holds a secret or a digest that was computed here. */
export type Explanation =
  | { valid: true; ageSeconds: number; secretIndex: number }
  | {
      valid: false;
      reason: SignatureProblem;
      /** What explains it: each was tried, and put right the signature verifies. */
      causes: readonly string[];
      /** What could not be tried. */
      possibleCauses: readonly string[];
    };

export function explainVerification(input: VerificationInput): Explanation {
  const { header, body, secrets, toleranceSeconds, nowSeconds } = input;
  const verification = verifySignature({
    header: header === "" ? undefined : header,
    body,
    secrets,
    toleranceSeconds,
    now: nowSeconds * 1000,
  });
  if (verification.ok) {
    const ageSeconds = nowSeconds - verification.timestamp;
    return { valid: true, ageSeconds, secretIndex: verification.secretIndex };
  }
  return { valid: false, reason: verification.reason, ...CAUSES[verification.reason](input) };
}

type Causes = Pick<Extract<Explanation, { valid: false }>, "causes" | "possibleCauses">;

const CAUSES: Readonly<Record<SignatureProblem, (input: VerificationInput) => Causes>> = {
  signature_missing: () => ({
    causes: [],
    possibleCauses: ["a proxy dropped the header", "the delivery is not from the service"],
  }),
  signature_malformed: causesOfMalformed,
  signature_mismatch: causesOfMismatch,
  timestamp_out_of_tolerance: (input) => ({ causes: [describeSkew(input)], possibleCauses: [] }),
};

function causesOfMismatch({ header, body, secrets }: VerificationInput): Causes {
  const parsed = parseSignatureHeader(header);
  const causes = parsed.ok
    ? suspectMismatch({ ...parsed, digest: Buffer.from(parsed.digestHex, "hex"), body, secrets })
    : [];
  if (causes.length > 0) return { causes, possibleCauses: [] };
  const consumed = "the body is empty: were its bytes consumed before they were saved?";
  return { causes, possibleCauses: body.byteLength === 0 ? [consumed, ...REMAINING_CAUSES] : REMAINING_CAUSES };
}

function causesOfMalformed(input: VerificationInput): Causes {
  const { cause, mended } = findHeaderFault(input.header);
  const first = `the header is malformed: ${cause}`;
  if (mended === null) return { causes: [first], possibleCauses: [] };
  const then = explainVerification({ ...input, header: mended });
  if (then.valid) return { causes: [`${first} (with that mended the signature is valid)`], possibleCauses: [] };
  return { causes: [first, ...then.causes], possibleCauses: then.possibleCauses };
}

function describeSkew({ header, nowSeconds, toleranceSeconds }: VerificationInput): string {
  const parsed = parseSignatureHeader(header);
  const age = parsed.ok ? nowSeconds - parsed.timestamp : 0;
  const when = age >= 0 ? `${age} s ago` : `${-age} s in the future`;
  const stale =
    toleranceSeconds === DEFAULT_TOLERANCE_SECONDS
      ? `captured deliveries go stale after ${DEFAULT_TOLERANCE_SECONDS} s`
      : `the tolerance is ${toleranceSeconds} s`;
  const hint = age >= 0 ? ": for an old capture give --now <the second at which it arrived>" : "";
  return `signed ${when}; is the clock right? The signature itself matches; ${stale}${hint}`;
}
