import { OPERATIONS, type OperationName } from "../../contract/operations.js";
import { ClientError, type ClientErrorFields } from "../client-error.js";
import type { OperationCall } from "./build-request.js";

/** One request of a call. */
export interface Attempt {
  call: OperationCall;
  /** The number of the request in its call: 1 is the first, 2 is the first retry. */
  attempt: number;
}

/** Makes the error of a request that was sent. */
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
export function isRepeatable(operation: OperationName): boolean {
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
export function helpWhenUnknown(operation: OperationName): string {
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
