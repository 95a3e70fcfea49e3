import { createHmac, timingSafeEqual } from "node:crypto";
import type { Reading } from "../../senders/sender.js";
import { parseSignatureHeader } from "../../signature/header.js";
import { verifySignature, type SignatureProblem } from "../../signature/verify.js";
import { bodyVariants } from "./body-variants.js";
import { findHeaderFault } from "./fix-header.js";
import { secretMistakes } from "./secret-mistakes.js";

export interface VerificationInput {
  header: string;
  body: Buffer;
  secrets: readonly string[];
  toleranceSeconds: number;
  nowSeconds: number;
}

/** What the command `verify` prints. The texts contain no secret and no computed digest. */
export type Explanation =
  | {
      valid: true;
      /** Null for a sender that signs no time. */
      ageSeconds: number | null;
      secretIndex: number;
      /** What the sender reads of it; absent for the service. */
      reading?: Reading;
    }
  | {
      valid: false;
      reason: SignatureProblem;
      /** Mistakes that certainly were made. `possibleCauses` lists what this command cannot test. */
      causes: readonly string[];
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

function causesOfMismatch(input: VerificationInput): Causes {
  const causes = explainMismatch(input);
  if (causes.length > 0) return { causes, possibleCauses: [] };
  const consumed = "the body is empty: another program may have read the body before it was saved";
  return { causes, possibleCauses: input.body.byteLength === 0 ? [consumed, ...REMAINING_CAUSES] : REMAINING_CAUSES };
}

export const REMAINING_CAUSES: readonly string[] = [
  "the secret belongs to another registration or another environment, or it was replaced by a rotation",
  "the header belongs to another delivery",
  "the body was changed in another way (keys reordered, numbers rewritten, bytes lost): keep the raw bytes",
];

const RIGHT = "a signer must sign the text of t, a dot, and the body";

/** Formats of the bytes that a signer signs: the correct format first, then the usual mistakes of programs that sign. */
const FORMATS: readonly { cause: string; signed: (t: string, body: Buffer) => readonly (string | Buffer)[] }[] = [
  { cause: "", signed: (t, body) => [`${t}.`, body] },
  { cause: `the signer signed only the body: ${RIGHT}`, signed: (_t, body) => [body] },
  { cause: `the signer left out the dot after t: ${RIGHT}`, signed: (t, body) => [t, body] },
  { cause: "the signer signed milliseconds and sent seconds", signed: (t, body) => [`${t}000.`, body] },
];

export const KEEP_RAW_BYTES = "keep the raw bytes, as express.json({ verify: captureRawBody }) does";

/** Tries the usual mistakes, one or two at a time, and returns those with which the digest matches; empty if it never does. */
function explainMismatch({ header, body, secrets }: VerificationInput): string[] {
  const parsed = parseSignatureHeader(header);
  if (!parsed.ok) return [];
  const digest = Buffer.from(parsed.digestHex, "hex");
  const bodies = [
    { body, cause: "" },
    ...bodyVariants(body).map(({ body: signed, name, by }) => {
      return { body: signed, cause: `the body was signed ${name}: ${by}; ${KEEP_RAW_BYTES}` };
    }),
  ];
  const keys = [
    ...secrets.map((key) => ({ key, cause: "" })),
    ...secrets.flatMap((secret) =>
      secretMistakes(secret, "signer").map(({ key, found, fix }) => ({ key, cause: `${found}. ${fix}` })),
    ),
  ];
  for (const mistakes of [1, 2]) {
    for (const format of FORMATS) {
      for (const signed of bodies) {
        for (const { key, cause } of keys) {
          const causes = [format.cause, signed.cause, cause].filter((text) => text !== "");
          if (causes.length !== mistakes) continue;
          const hmac = createHmac("sha256", key);
          for (const part of format.signed(parsed.timestampText, signed.body)) hmac.update(part);
          if (timingSafeEqual(hmac.digest(), digest)) return causes;
        }
      }
    }
  }
  return [];
}

function causesOfMalformed(input: VerificationInput): Causes {
  const { cause, fixed } = findHeaderFault(input.header);
  const first = `the header is malformed: ${cause}`;
  if (fixed === null) return { causes: [first], possibleCauses: [] };
  const then = explainVerification({ ...input, header: fixed });
  if (then.valid) return { causes: [`${first} (after this is fixed, the signature is valid)`], possibleCauses: [] };
  return { causes: [first, ...then.causes], possibleCauses: then.possibleCauses };
}

function describeSkew({ header, nowSeconds, toleranceSeconds }: VerificationInput): string {
  const parsed = parseSignatureHeader(header);
  return skewCause(parsed.ok ? nowSeconds - parsed.timestamp : 0, toleranceSeconds);
}

export function skewCause(age: number, toleranceSeconds: number): string {
  const when = age >= 0 ? `${age} s ago` : `${-age} s in the future`;
  const advice = age >= 0 ? ". For an old capture, set --now to the second at which it arrived" : "";
  return `the digest matches, but it was signed ${when}, and the tolerance is ${toleranceSeconds} s. Check the clock${advice}`;
}
