import {
  type ErrorEnvelope,
  errorEnvelopeSchema,
  quotaDetailsSchema,
  type ServiceErrorCode,
} from "../../api/error-envelope.js";
import { OPERATIONS, type OperationName } from "../../api/operations.js";
import { parseJson } from "../../events/parse-json.js";
import { withoutKey } from "./api-key.js";
import type { ClientError, ClientErrorFields } from "../client-error.js";
import { failedCall, helpWhenUnknown, isRepeatable, quoted, type AttemptOf } from "./failed-call.js";
import type { RawAnswer } from "./raw-answer.js";
import { readQuota, type Quota } from "./quota.js";
import { readHttpDate } from "./read-http-date.js";
import { readRetryAfter } from "./read-retry-after.js";

const QUOTA_EXHAUSTED: ServiceErrorCode = "PRO_API_QUOTA_EXHAUSTED";

/** What an account may have at a time or in a day (service document, Limits): no wait of seconds mends that. */
const COUNT_EXCEEDED: ReadonlySet<string | undefined> = new Set<ServiceErrorCode>([
  "ACTIVE_INVESTIGATIONS_EXCEEDED",
  "REGISTRATIONS_EXCEEDED",
]);

/** An answer that is neither a success nor a redirect (service document, Errors). */
export function judgeRefusal(of: AttemptOf, answer: RawAnswer, key: string | null, nowMs: number): ClientError {
  const { status, headers } = answer;
  const envelope = readEnvelope(answer.body, key);
  const code = envelope?.error.code;
  const requestId = envelope?.request_id ?? headers.get("x-request-id") ?? undefined;
  const told = {
    status,
    code,
    requestId,
    details: envelope?.error.details,
    quota: quotaOf(answer, envelope) ?? undefined,
  };
  const asked = requestId === undefined ? "" : ` (request ${quoted(requestId, 100)})`;
  const problem =
    envelope === null
      ? `was answered ${status}, without the service's own error${asked}`
      : `was refused: ${status} ${quoted(envelope.error.code, 100)}, ${quoted(envelope.error.message).replace(/\.$/, "")}${asked}`;
  // The service names moments by its own clock, which may be another than ours.
  const sentMs = readHttpDate(headers.get("date") ?? "") ?? nowMs;
  const reason = reasonOf(of.call.operation, status, code, told.quota, {
    askedMs: readRetryAfter(headers.get("retry-after"), sentMs),
    sentMs,
  });
  const { retryAfterMs } = reason;
  const resetAt = retryAfterMs === undefined ? undefined : new Date(nowMs + retryAfterMs);
  return failedCall(of, problem, { resetAt, ...told, ...reason });
}

/** Undefined when the moment is past, and yet nothing began anew: nobody knows how long to wait. */
function msUntil(moment: Date, sentMs: number): number | undefined {
  const restMs = moment.getTime() - sentMs;
  return restMs > 0 ? restMs : undefined;
}

type Reason = Pick<ClientErrorFields, "kind" | "retryable" | "retryAfterMs" | "resetAt" | "help">;

function reasonOf(
  operation: OperationName,
  status: number,
  code: string | undefined,
  quota: Quota | undefined,
  { askedMs, sentMs }: { askedMs: number | null; sentMs: number },
): Reason {
  const retryAfterMs = askedMs ?? undefined;
  // The code alone tells it: a reader of an investigation may be rate limited while its quota is used up.
  if (status === 429 && code === QUOTA_EXHAUSTED) {
    const resetAt = quota?.resetAt ?? undefined;
    const untilResetMs = resetAt === undefined ? retryAfterMs : msUntil(resetAt, sentMs);
    const help =
      resetAt === undefined ? "It is counted by the UTC month." : `It begins anew at ${resetAt.toISOString()}.`;
    return { kind: "quota", retryable: untilResetMs !== undefined, retryAfterMs: untilResetMs, resetAt, help };
  }
  if (status === 429 && COUNT_EXCEEDED.has(code)) {
    return {
      kind: "limit",
      retryable: askedMs !== null,
      retryAfterMs,
      help: "The account may have no more of them now.",
    };
  }
  // Refused before it had any effect, whatever it was.
  if (status === 429) return { kind: "rate", retryable: true, retryAfterMs, help: "Send fewer requests." };
  if (status >= 500) {
    // A gateway says 503 too, when it has lost the answer of the service; the service says it before it does anything.
    const isRefusal = status === 503 && code !== undefined;
    const help = isRefusal ? "Try again later." : helpWhenUnknown(operation);
    return { kind: "unavailable", retryable: isRefusal || isRepeatable(operation), retryAfterMs, help };
  }
  return { kind: "http", retryable: false, help: helpFor(operation, status) };
}

function helpFor(operation: OperationName, status: number): string {
  const { scope } = OPERATIONS[operation];
  switch (status) {
    case 401:
      return "Check the API key: it is missing, wrong or revoked.";
    case 403:
      return scope === null ? "" : `The key needs the scope ${scope}, and its account must have access.`;
    case 409:
      return "Use a new idempotency key for another product or language.";
    default:
      return "";
  }
}

function readEnvelope(body: Uint8Array | null, key: string | null): ErrorEnvelope | null {
  if (body === null) return null;
  const json = parseJson(new TextEncoder().encode(new TextDecoder().decode(body)));
  if (!json.ok) return null;
  try {
    // Taken out of what was read: JSON may write a key with escapes, as `\/` for a slash.
    const parsed = errorEnvelopeSchema.safeParse(cleaned(json.value, key));
    return parsed.success ? parsed.data : null;
  } catch {
    // Nested deeper than the stack allows: nothing that the service would say.
    return null;
  }
}

function cleaned(value: unknown, key: string | null): unknown {
  const clean = (text: string): string => withoutKey(text, key);
  if (typeof value === "string") return clean(value);
  if (Array.isArray(value)) return value.map((item) => cleaned(item, key));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [clean(name), cleaned(member, key)]));
}

/** The headers say more than the details do; a gateway may have dropped them. */
function quotaOf({ headers }: RawAnswer, envelope: ErrorEnvelope | null): Quota | null {
  const quota = readQuota(headers);
  const details = quotaDetailsSchema.safeParse(envelope?.error.details);
  if (quota !== null || envelope?.error.code !== QUOTA_EXHAUSTED || !details.success) return quota;
  const { limit, remaining } = details.data;
  return { limit, remaining, policy: null, resetAt: null };
}
