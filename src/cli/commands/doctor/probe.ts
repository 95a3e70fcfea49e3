import { createHmac, randomBytes } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { parseEvent } from "../../../events/parse-event.js";
import { SIGNATURE_HEADER } from "../../../signature/header.js";
import { throwIfInterrupted } from "../../options/define-command.js";
import { isJsonObject } from "../../deliveries/restamp.js";
import { sendDelivery, type Answer } from "../../deliveries/send-delivery.js";
import { uniqueEventId } from "../../deliveries/unique.js";
import { withoutSecrets } from "../../deliveries/without-secrets.js";
import type { DoctorInput } from "./examination.js";
import type { Surroundings } from "./surroundings.js";

export interface Probe {
  body: Buffer;
  /** The key as text or, to try out a decoded one, as bytes. */
  key: string | Buffer;
  /** The bytes that are signed. @default body */
  signed?: Buffer;
  /** Seconds between the time of signing and now; negative: in the past. @default 0 */
  skewSeconds?: number;
  headers?: readonly (readonly [name: string, value: string])[];
  /** The receiver may keep it. Without this, it is signed so that it cannot. */
  mayBeStored?: true;
}

export interface Reply {
  answer: Answer;
  headers: IncomingHttpHeaders;
  /** The `error.code` of the answer. */
  code: string | null;
  /** The challenge came back with a 2xx. */
  isVerified: boolean;
  ms: number;
  /** Our wall clock in the middle of the exchange, in milliseconds. */
  at: number;
}

export type SendProbe = (probe: Probe) => Promise<Reply>;

/** The value that each probe of this process asks back. */
export const CHALLENGE = `doctor-${randomBytes(18).toString("base64url")}`;

/**
 * A `webhook.verification`: a receiver answers it and hands nothing on. Keys are sorted and nothing needs an escape, so
 * that this one comes through most of what rewrites JSON.
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

/** A receiver keeps what is authentic and no verification. So far back it is refused, and still tells if it was authentic. */
const LONG_AGO_SECONDS = -1_000_000_000;

/** What a receiver answers and forgets: of what it accepts the bytes are those that were signed. */
function isVerification(signed: Buffer): boolean {
  const parsed = parseEvent(signed);
  return parsed.kind === "known" && parsed.event.type === "webhook.verification";
}

export function createProbes(
  { url, secrets, timeoutMs, signal }: Pick<DoctorInput, "url" | "secrets" | "timeoutMs" | "signal">,
  { now, monotonicMs }: Pick<Surroundings, "now" | "monotonicMs">,
  times: number[],
): SendProbe {
  return async ({ body, key, signed = body, skewSeconds = 0, headers = [], mayBeStored = false }) => {
    const skew = mayBeStored || isVerification(signed) ? skewSeconds : LONG_AGO_SECONDS;
    const timestamp = String(Math.max(0, Math.floor(now() / 1000) + skew));
    const v1 = createHmac("sha256", key).update(`${timestamp}.`).update(signed).digest("hex");
    const wallBefore = now();
    const before = monotonicMs();
    const sent = await sendDelivery(
      url,
      {
        method: "POST",
        headers: [["Content-Type", "application/json"], [SIGNATURE_HEADER, `t=${timestamp},v1=${v1}`], ...headers],
        body,
        isChunked: false,
      },
      { timeoutMs, signal },
    );
    throwIfInterrupted(signal);
    const ms = monotonicMs() - before;
    const answer = sent.kind === "answer" ? { ...sent, body: withoutSecrets(sent.body, secrets) } : sent;
    if (answer.kind === "answer") times.push(ms);
    const json = answer.kind === "answer" ? jsonOf(answer.body) : undefined;
    const error = isJsonObject(json) ? json["error"] : undefined;
    const code = isJsonObject(error) ? error["code"] : undefined;
    return {
      answer,
      headers: answer.kind === "answer" ? answer.headers : {},
      code: typeof code === "string" ? code : null,
      isVerified: isSuccess(answer) && isJsonObject(json) && json["challenge"] === CHALLENGE,
      ms,
      at: (wallBefore + now()) / 2,
    };
  };
}

/**
 * What an answer says of the signature. A receiver looks at the digest before the age, so a stale one was made with the
 * right secret over the right bytes.
 */
export function verdictOf({ answer, code, headers, isVerified }: Reply): "matched" | "mismatched" | "unclear" {
  if (isVerified || code === "timestamp_out_of_tolerance") return "matched";
  if (code === "signature_mismatch") return "mismatched";
  const isBare401 = answer.kind === "answer" && answer.status === 401 && code === null;
  return isBare401 && headers["www-authenticate"] === undefined ? "mismatched" : "unclear";
}

export function isSuccess(answer: Answer): boolean {
  return answer.kind === "answer" && answer.status >= 200 && answer.status < 300;
}

/** An error of the server's, or no answer at all, refuses nothing. */
export function isRefusal(answer: Answer): boolean {
  return answer.kind === "answer" && answer.status >= 400 && answer.status < 500;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
