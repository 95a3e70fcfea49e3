import { OPERATIONS, type OperationName } from "../../api/operations.js";
import { ClientError, type ClientErrorFields } from "../client-error.js";
import type { OperationCall } from "./operation-call.js";

/** Which request of which call it was. */
export interface AttemptOf {
  call: OperationCall;
  /** From 1. */
  attempt: number;
}

/** A {@link ClientError} of a request that was sent. */
export function failedCall(
  { call, attempt }: AttemptOf,
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

/**
 * Whether a call may be sent again when nobody knows what became of it. A read may, and so may the start of an investigation,
 * which has its idempotency key; a registration would be made twice, and the first one's secret be lost.
 */
export function isRepeatable(operation: OperationName): boolean {
  return OPERATIONS[operation].method === "GET" || operation === "startInvestigation";
}

/** The connection was not made, so nothing of the request was sent. */
const NOT_REACHED: ReadonlySet<string | undefined> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/**
 * Whether the service knows nothing of the call. Of the start of an investigation that is known at the first attempt alone: an
 * earlier one may have arrived. Of a registration there is no attempt after one that may have.
 */
export function neverArrived({ call, attempt }: AttemptOf, cause: (Error & { code?: string }) | undefined): boolean {
  // Ports that the standard of fetch forbids; without a code.
  const isNotSent = NOT_REACHED.has(cause?.code) || cause?.message === "bad port";
  return isNotSent && (attempt === 1 || call.operation !== "startInvestigation");
}

/** What to do when it is not known what became of a call. */
export function helpWhenUnknown(operation: OperationName): string {
  if (operation === "registerWebhook") {
    return "It may be registered all the same, with a secret that nobody saw: look in the dashboard, and delete it there, before you register again.";
  }
  if (operation === "startInvestigation") {
    return "It may be started all the same: call startInvestigation again with this error's idempotencyKey, and you get that task.";
  }
  return "";
}

/** Text of others in a message: one line, not long. */
export function quoted(text: string, maxLength = 300): string {
  const line = text.replaceAll(/[\p{Cc}\s]+/gu, " ").trim();
  return line.length > maxLength ? `${line.slice(0, maxLength)}…` : line;
}
