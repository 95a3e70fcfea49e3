import { createHmac, randomBytes } from "node:crypto";
import { parseEvent } from "../../../kit/senders/signals/parse-event.js";
import { SIGNATURE_HEADER } from "../../../kit/senders/signature/header.js";
import { errorCodeIn, isSuccess, propertyIn } from "../../deliveries/answer.js";
import { uniqueEventId } from "../../deliveries/restamp.js";
import { sendDelivery } from "../../deliveries/send-delivery.js";
import type { DoctorInput, Facts, Reply, SendProbe } from "./examination.js";
import type { Surroundings } from "./surroundings.js";

const CHALLENGE = `doctor-${randomBytes(18).toString("base64url")}`;

/**
 * A `webhook.verification` event, which a receiver answers, but does not store or hand off. Its
 * keys are sorted and none of its characters needs an escape, so most programs that rewrite JSON
 * leave its bytes as they are.
 */
export function verificationEvent(
  extra: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
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
 * Probes that must not be stored get a timestamp this long ago. The receiver refuses them, and its
 * error code still shows whether the signature matches.
 */
const LONG_AGO_SECONDS = -1_000_000_000;

export function createProbes(
  input: DoctorInput & { url: URL },
  { now }: Surroundings,
  facts: Facts,
): SendProbe {
  const { url, secrets, timeoutMs, signal } = input;
  return async ({
    body,
    signed = body,
    key = facts.key ?? secrets[0] ?? "",
    skewSeconds = 0,
    mayBeStored,
  }) => {
    const skew = mayBeStored === true || isVerification(signed) ? skewSeconds : LONG_AGO_SECONDS;
    const timestamp = String(Math.max(0, Math.floor(now() / 1000) + skew));
    const v1 = createHmac("sha256", key).update(`${timestamp}.`).update(signed).digest("hex");
    const headers = [
      ["Content-Type", "application/json"],
      [SIGNATURE_HEADER, `t=${timestamp},v1=${v1}`],
    ] as const;
    const before = now();
    const delivery = { method: "POST", headers, body, isChunked: false };
    const answer = await sendDelivery(url, delivery, { timeoutMs, signal, secrets });
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
 * Whether the answer shows that the signature matches. A receiver checks the digest before the age,
 * so if the receiver refuses a signature only because of its age, the signature matched. A 401
 * without a code counts as `mismatched`, unless it asks for a login. Any other answer is `unclear`.
 */
export function verdictOf({
  answer,
  code,
  headers,
  isVerified,
}: Reply): "matched" | "mismatched" | "unclear" {
  if (isVerified || code === "timestamp_out_of_tolerance") return "matched";
  if (code === "signature_mismatch") return "mismatched";
  const isBare401 = answer.kind === "answer" && answer.status === 401 && code === null;
  return isBare401 && headers["www-authenticate"] === undefined ? "mismatched" : "unclear";
}
