import { createHmac, randomBytes } from "node:crypto";
import { parseEvent } from "../../../events/parse-event.js";
import { SIGNATURE_HEADER } from "../../../signature/header.js";
import { errorCodeIn, isSuccess, propertyIn } from "../../deliveries/answer.js";
import { uniqueEventId } from "../../deliveries/restamp.js";
import { sendDelivery } from "../../deliveries/send-delivery.js";
import type { DoctorInput, Facts, Reply, SendProbe } from "./examination.js";
import type { Surroundings } from "./surroundings.js";

/** The value that each probe of this process asks back. */
export const CHALLENGE = `doctor-${randomBytes(18).toString("base64url")}`;

/**
 * A `webhook.verification`: a receiver answers it and hands nothing off. Keys are sorted and nothing needs an escape, so most
 * programs that rewrite JSON leave this one as it is.
 */
export function verificationEvent(extra: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    created_at: new Date().toISOString(),
    data: { challenge: CHALLENGE, ...extra },
    id: uniqueEventId(),
    type: "webhook.verification",
    version: "1",
  };
}

export function verificationBody(extra?: Readonly<Record<string, unknown>>): Buffer {
  return Buffer.from(JSON.stringify(verificationEvent(extra)));
}

/**
 * A receiver stores what is authentic and no verification. Signed so long ago it refuses it, and the code of the refusal still
 * says whether the signature fits.
 */
const LONG_AGO_SECONDS = -1_000_000_000;

export function createProbes(input: DoctorInput, { now }: Surroundings, facts: Facts): SendProbe {
  const { url, secrets, timeoutMs, signal } = input;
  return async (probe) => {
    const { body, signed = body, key = facts.key ?? secrets[0], skewSeconds = 0, headers = [], mayBeStored } = probe;
    const skew = mayBeStored === true || isVerification(signed) ? skewSeconds : LONG_AGO_SECONDS;
    const timestamp = String(Math.max(0, Math.floor(now() / 1000) + skew));
    const v1 = createHmac("sha256", key).update(`${timestamp}.`).update(signed).digest("hex");
    const before = now();
    const answer = await sendDelivery(
      url,
      {
        method: "POST",
        headers: [["Content-Type", "application/json"], [SIGNATURE_HEADER, `t=${timestamp},v1=${v1}`], ...headers],
        body,
        isChunked: false,
      },
      { timeoutMs, signal, secrets },
    );
    return {
      answer,
      headers: answer.kind === "answer" ? answer.headers : {},
      code: errorCodeIn(answer),
      isVerified: isSuccess(answer) && propertyIn(answer, "challenge") === CHALLENGE,
      at: (before + now()) / 2,
    };
  };
}

function isVerification(signed: Buffer): boolean {
  const parsed = parseEvent(signed);
  return parsed.kind === "known" && parsed.event.type === "webhook.verification";
}

/**
 * What an answer says of the signature. A receiver checks the digest before the age, so a stale signature was made with the
 * right secret over the right bytes.
 */
export function verdictOf({ answer, code, headers, isVerified }: Reply): "matched" | "mismatched" | "unclear" {
  if (isVerified || code === "timestamp_out_of_tolerance") return "matched";
  if (code === "signature_mismatch") return "mismatched";
  const isBare401 = answer.kind === "answer" && answer.status === 401 && code === null;
  return isBare401 && headers["www-authenticate"] === undefined ? "mismatched" : "unclear";
}
