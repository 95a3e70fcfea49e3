import { OPERATIONS, type OperationName } from "../../api/operations.js";
import { ClientError, type ClientErrorFields } from "../client-error.js";
import type { OperationCall } from "./build-request.js";

/** One request of a call. */
export interface Attempt {
  call: OperationCall;
  /** From 1. */
  attempt: number;
}

/** The {@link ClientError} of a request that was sent. */
export function failedCall(
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

/** The {@link ClientError} of a request that got no answer. In most cases it is unknown whether it arrived. */
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
 * Whether a call may be sent again when it is unknown whether the service carried it out. A read may. The start of an
 * investigation may too: it has an idempotency key. A second registration would be another one, and the first secret lost.
 */
export function isRepeatable(operation: OperationName): boolean {
  return OPERATIONS[operation].method === "GET" || operation === "startInvestigation";
}

/** Codes of a connection that was not made: nothing of the request was sent. */
const NOT_REACHED: ReadonlySet<string | undefined> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/**
 * Whether the call certainly never reached the service. For a repeated start of an investigation that is unknown: an earlier
 * attempt may have arrived. A registration is never repeated after such an attempt.
 */
export function neverArrived({ call, attempt }: Attempt, cause: (Error & { code?: string }) | undefined): boolean {
  // The error for a port that the fetch standard forbids has no code.
  const isNotSent = NOT_REACHED.has(cause?.code) || cause?.message === "bad port";
  return isNotSent && (attempt === 1 || call.operation !== "startInvestigation");
}

/** What the caller should do when it is unknown whether the service carried out the call. */
export function helpWhenUnknown(operation: OperationName): string {
  if (operation === "registerWebhook") {
    return "The endpoint may be registered all the same, with a secret that is lost: check the dashboard, and delete that registration before you register again.";
  }
  if (operation === "startInvestigation") {
    return "The investigation may have started all the same: call startInvestigation again with this error's idempotencyKey to get that task.";
  }
  return "";
}

/** Text from outside, fit for a message: one line, not long. */
export function quoted(text: string, maxLength = 300): string {
  const line = text.replaceAll(/[\p{Cc}\s]+/gu, " ").trim();
  return line.length > maxLength ? `${line.slice(0, maxLength)}…` : line;
}
