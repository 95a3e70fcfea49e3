import { parseJson } from "../../../base/text/parse-json.js";
import {
  errorEnvelopeSchema,
  quotaDetailsSchema,
  type ErrorEnvelope,
  type ServiceErrorCode,
} from "../../contract/error-envelope.js";
import { OPERATIONS, type Operation, type OperationName } from "../../contract/operations.js";
import { ClientError, type ClientErrorFields } from "../client-error.js";
import { requestIdOf, withoutKey } from "../client-options.js";
import type { PlatformAbortSignal } from "./platform.js";
import {
  type AnswerHeaders,
  type RawAnswer,
  type Quota,
  readHttpDate,
  readQuota,
  readRetryAfter,
} from "./raw-answer.js";

/**
 * Returns the answer of an operation.
 *
 * @param key the API key, which must not be in an error
 * @param nowMs the time of the client's clock: milliseconds since 1970
 * @throws ClientError
 */
export function readAnswer(
  of: Attempt,
  answer: RawAnswer,
  key: string | null,
  nowMs: number,
): unknown {
  const { status, headers, body } = answer;
  // In a browser, a redirect that was not followed has the status 0.
  if (status === 0 || (status >= 300 && status <= 399)) {
    const help =
      "Redirects are not followed, because the API key would be sent too. Set baseUrl to the address that they redirect to.";
    const problem = `was redirected${status === 0 ? "" : ` (${status})`}`;
    throw failedCall(of, problem, { kind: "redirect", status, help });
  }
  if (status < 200 || status > 299) throw readRefusal(of, answer, key, nowMs);

  const invalid = (problem: string, help: string, value?: unknown): ClientError =>
    failedCall(of, `was answered ${status}, with ${problem}`, {
      kind: "invalid_answer",
      status,
      requestId: requestIdOf(headers, key),
      help: `${help} ${helpWhenUnknown(of.call.operation)}`.trim(),
      answer: value,
    });
  if (body === null) throw invalid("a body larger than answerLimitBytes", "");
  const json = parseJson(body);
  if (!json.ok)
    throw invalid(
      `a body that is not JSON (${withoutKey(describeBody(headers, body), key)})`,
      "Is baseUrl the address of the API?",
    );
  const { schema } = (OPERATIONS[of.call.operation] as Operation).response;
  const parsed = schema.safeParse(json.value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.path.join(".") ?? "";
  const part = path === "" ? "a body" : `a body whose "${path}"`;
  throw invalid(
    `${part} is not as documented: ${issue?.message ?? "it is not an object"}`,
    "",
    json.value,
  );
}

/** Describes a body by its type and size, because its text may hold secrets. */
function describeBody(headers: AnswerHeaders, body: Uint8Array): string {
  const type = headers.get("content-type")?.split(";")[0]?.trim() ?? "";
  return `${/^[\w.+/-]{1,60}$/.test(type) ? type : "of no type"}, ${body.byteLength} bytes`;
}

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
function readRefusal(
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

/** One request of a call. */
export interface Attempt {
  call: OperationCall;
  /** The number of the request in its call: 1 is the first, 2 is the first retry. */
  attempt: number;
}

/** Makes the error of a request that was sent. */
function failedCall(
  { call, attempt }: Attempt,
  problem: string,
  fields: Omit<ClientErrorFields, "operation" | "attempts" | "idempotencyKey">,
): ClientError {
  const { operation, idempotencyKey } = call;
  const times = attempt > 1 ? ` (attempt ${attempt})` : "";
  return new ClientError(`${operation} ${problem}${times}.`, {
    ...fields,
    operation,
    attempts: attempt,
    idempotencyKey,
  });
}

/** Makes the error of a request that got no answer. */
export function lostCall(
  of: Attempt,
  kind: "network" | "timeout",
  problem: string,
  cause?: Error & { code?: string },
): ClientError {
  const { operation } = of.call;
  const help = neverArrived(of, cause)
    ? "Is baseUrl the address of the API, and is the service up?"
    : helpWhenUnknown(operation);
  return failedCall(of, problem, { kind, help, retryable: isRepeatable(operation), cause });
}

/**
 * Whether a call can be sent again when it is unknown whether the service executed it. Reads can be
 * sent again, and so can startInvestigation, because of its idempotency key. A repeated
 * registration would be a second one, and the secret of the first would be lost.
 */
function isRepeatable(operation: OperationName): boolean {
  return OPERATIONS[operation].method === "GET" || operation === "startInvestigation";
}

/** The error codes of connections that failed before any part of the request was sent. */
const NOT_REACHED: ReadonlySet<string | undefined> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/**
 * Whether it is certain that the call did not reach the service. For a retry of startInvestigation
 * it is not certain, because an earlier attempt may have reached the service. registerWebhook is
 * not retried after such an attempt, so for it this is certain.
 */
export function neverArrived(
  { call, attempt }: Attempt,
  cause: (Error & { code?: string }) | undefined,
): boolean {
  // The fetch standard forbids some ports. The error for such a port has no code, only this
  // message.
  const isNotSent = NOT_REACHED.has(cause?.code) || cause?.message === "bad port";
  return isNotSent && (attempt === 1 || call.operation !== "startInvestigation");
}

/** Returns what the user can do when it is unknown whether the service executed the call. */
function helpWhenUnknown(operation: OperationName): string {
  if (operation === "registerWebhook") {
    return "The endpoint may nevertheless be registered, but its secret is lost. Check the service's dashboard, and delete that registration before you register again.";
  }
  if (operation === "startInvestigation") {
    return "The investigation may nevertheless have started. Call startInvestigation again with this error's idempotencyKey to get that task.";
  }
  return "";
}

/** Shortens a text of the service or of `fetch` to one line of an error message. */
export function quoted(text: string, maxLength = 300): string {
  const line = text.replaceAll(/[\p{Cc}\s]+/gu, " ").trim();
  return line.length > maxLength ? `${line.slice(0, maxLength)}…` : line;
}

/** A call of an operation, with a valid input. */
export interface OperationCall {
  operation: OperationName;
  /** The values of `{name}` in the operation's path. */
  path?: Readonly<Record<string, string>>;
  query?: object;
  body?: object;
  /** The key of `startInvestigation`, which its errors contain. */
  idempotencyKey?: string;
  signal?: PlatformAbortSignal | undefined;
  /** @default the client's `retry.maxAttempts` */
  maxAttempts?: number;
}
