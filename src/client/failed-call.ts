import { OPERATIONS, type OperationName } from "../api/operations.js";
import { ClientError, type ClientErrorFields } from "./client-error.js";
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
