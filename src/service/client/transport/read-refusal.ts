import {
  errorEnvelopeSchema,
  quotaDetailsSchema,
  type ErrorEnvelope,
  type ServiceErrorCode,
} from "../../contract/error-envelope.js";
import { OPERATIONS, type OperationName } from "../../contract/operations.js";
import { parseJson } from "../../../base/text/parse-json.js";
import type { ClientError, ClientErrorFields } from "../client-error.js";
import { requestIdOf, withoutKey } from "./api-key.js";
import { failedCall, helpWhenUnknown, isRepeatable, quoted, type Attempt } from "./failed-call.js";
import {
  type Quota,
  type RawAnswer,
  readHttpDate,
  readQuota,
  readRetryAfter,
} from "./raw-answer.js";

const QUOTA_EXHAUSTED: ServiceErrorCode = "PRO_API_QUOTA_EXHAUSTED";

/**
 * The codes of a refusal because the account has too many investigations or registrations. A short
 * wait does not help.
 */
const COUNT_EXCEEDED: ReadonlySet<string | undefined> = new Set<ServiceErrorCode>([
  "ACTIVE_INVESTIGATIONS_EXCEEDED",
  "REGISTRATIONS_EXCEEDED",
]);

/**
 * Makes the error of an answer that is neither a success nor a redirect (service document, Errors).
 */
export function readRefusal(
  of: Attempt,
  answer: RawAnswer,
  key: string | null,
  nowMs: number,
): ClientError {
  const { status, headers } = answer;
  const envelope = readEnvelope(answer.body, key);
  const code = envelope?.error.code;
  const quota = quotaOf(answer, envelope) ?? undefined;
  const requestId = envelope?.request_id ?? requestIdOf(headers, key);
  const request = requestId === undefined ? "" : ` (request ${quoted(requestId, 100)})`;
  const problem =
    envelope === null
      ? `was answered ${status}, without the service's own error${request}`
      : `was refused: ${status} ${quoted(envelope.error.code, 100)}, ${quoted(envelope.error.message).replace(/\.$/, "")}${request}`;
  // Times in the answer are by the service's clock, so waits are computed from its `Date` header,
  // not from this clock.
  const sentMs = readHttpDate(headers.get("date") ?? "") ?? nowMs;
  const askedMs = readRetryAfter(headers.get("retry-after"), sentMs) ?? undefined;
  const reason = reasonOf(of.call.operation, { status, code, quota, askedMs, sentMs });
  const { retryAfterMs } = reason;
  const resetAt = retryAfterMs === undefined ? undefined : new Date(nowMs + retryAfterMs);
  return failedCall(of, problem, {
    resetAt,
    status,
    code,
    requestId,
    details: envelope?.error.details,
    quota,
    ...reason,
  });
}

interface Refusal {
  status: number;
  code: string | undefined;
  quota: Quota | undefined;
  /** The wait that `Retry-After` asks for, in milliseconds. */
  askedMs: number | undefined;
  /** When the service sent the answer, by the service's clock. */
  sentMs: number;
}

type Reason = Pick<ClientErrorFields, "kind" | "retryable" | "retryAfterMs" | "resetAt" | "help">;

/** Decides the kind of a refusal, and whether another attempt can succeed. */
function reasonOf(
  operation: OperationName,
  { status, code, quota, askedMs, sentMs }: Refusal,
): Reason {
  // The code decides, not the quota headers: the refusal of a free read for its rate has these
  // headers too.
  if (status === 429 && code === QUOTA_EXHAUSTED) {
    const resetAt = quota?.resetAt ?? undefined;
    if (resetAt === undefined) {
      const help = "The quota is counted by the UTC month.";
      return { kind: "quota", retryable: askedMs !== undefined, retryAfterMs: askedMs, help };
    }
    // If the reset is in the past, it is unknown how long to wait, so the error is not retryable.
    const untilResetMs = resetAt.getTime() - sentMs;
    const retryAfterMs = untilResetMs > 0 ? untilResetMs : undefined;
    const help = `The quota is full again at ${resetAt.toISOString()}.`;
    return { kind: "quota", retryable: retryAfterMs !== undefined, retryAfterMs, resetAt, help };
  }
  if (status === 429 && COUNT_EXCEEDED.has(code)) {
    const help = "The account has reached this limit.";
    return { kind: "limit", retryable: askedMs !== undefined, retryAfterMs: askedMs, help };
  }
  // The service checks the rate before it executes a call, so every operation can be sent again.
  if (status === 429)
    return { kind: "rate", retryable: true, retryAfterMs: askedMs, help: "Send fewer requests." };
  if (status >= 500) {
    // The service sends its own 503 (with a code) before it executes a call. After a gateway's 503
    // the call may be executed.
    const isRefusal = status === 503 && code !== undefined;
    const help = isRefusal ? "Try again later." : helpWhenUnknown(operation);
    return {
      kind: "unavailable",
      retryable: isRefusal || isRepeatable(operation),
      retryAfterMs: askedMs,
      help,
    };
  }
  return { kind: "http", retryable: false, help: helpFor(operation, status) };
}

function helpFor(operation: OperationName, status: number): string {
  const { scope } = OPERATIONS[operation];
  switch (status) {
    case 401:
      return "Check the API key: it is missing, wrong or revoked.";
    case 403:
      return scope === null
        ? ""
        : `The key needs the scope ${scope}, and its account must have access.`;
    case 409:
      return "Use a new idempotency key for another product or language.";
    default:
      return "";
  }
}

function readEnvelope(body: Uint8Array | null, key: string | null): ErrorEnvelope | null {
  if (body === null) return null;
  // Decoded and encoded again: this replaces invalid bytes in a message, so that the error code can
  // be read.
  const json = parseJson(new TextEncoder().encode(new TextDecoder().decode(body)));
  if (!json.ok) return null;
  try {
    // The key is removed from the parsed value, because JSON text may contain it with escapes, such
    // as `\/` for a slash.
    const parsed = errorEnvelopeSchema.safeParse(cleaned(json.value, key));
    return parsed.success ? parsed.data : null;
  } catch {
    // The value is nested deeper than the stack allows, so it is not an error of the service.
    return null;
  }
}

function cleaned(value: unknown, key: string | null): unknown {
  const clean = (text: string): string => withoutKey(text, key);
  if (typeof value === "string") return clean(value);
  if (Array.isArray(value)) return value.map((item) => cleaned(item, key));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [clean(name), cleaned(member, key)]),
  );
}

/**
 * Reads the quota from the headers. If a gateway removed them, reads it from the details, which
 * have fewer fields.
 */
function quotaOf({ headers }: RawAnswer, envelope: ErrorEnvelope | null): Quota | null {
  const quota = readQuota(headers);
  const details = quotaDetailsSchema.safeParse(envelope?.error.details);
  if (quota !== null || envelope?.error.code !== QUOTA_EXHAUSTED || !details.success) return quota;
  const { limit, remaining } = details.data;
  return { limit, remaining, policy: null, resetAt: null };
}
