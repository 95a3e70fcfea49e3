import type { IncomingMessage } from "node:http";
import type { Logger } from "pino";
import type { Operation, OperationName } from "../../api/operations.js";
import type { AccountView } from "../access/account-view.js";
import { authenticate } from "../access/authenticate.js";
import { authorize } from "../access/authorize.js";
import type { Access } from "../access/create-access.js";
import type { Assumptions } from "../assumptions.js";
import type { OperationFaults } from "../control/operation-faults.js";
import { ServiceError } from "../service-error.js";
import type { Answer } from "./answer.js";
import { errorAnswer } from "./error-answer.js";
import type { Gate } from "./gate.js";
import type { OperationBinding, ServiceCall } from "./operation-handler.js";
import { readParameters } from "./read-parameters.js";

/** What every call needs. */
export interface CallServices {
  access: Access;
  assumptions: Assumptions;
  faults: OperationFaults;
  gate: Gate;
  logger: Logger;
}

/** One request of one operation. */
export interface OperationRequest {
  name: OperationName;
  operation: Operation;
  /** Undefined: not activated. */
  binding: OperationBinding<never> | undefined;
  request: IncomingMessage;
  path: Record<string, string>;
  requestId: string;
}

/**
 * A call from its first byte to its answer: who calls (401), how often (429), may they (403), is it turned on (503), what
 * do they want (400), is there a call left in the month (429), then the operation itself.
 */
export async function callOperation(asked: OperationRequest, services: CallServices): Promise<Answer> {
  const { access, assumptions, gate, logger } = services;
  const { operation, requestId } = asked;
  let account: AccountView | null = null;
  function quotaHeaders(isExhausted: boolean): Record<string, string> {
    // A closed gate may have nothing behind it any more that could be asked.
    if (account === null || gate.isClosed) return {};
    return isExhausted || assumptions.quotaHeadersOnEveryAnswer ? access.quota.headers(account) : {};
  }
  try {
    account = admit(asked, services);
    services.faults.assertUsable(asked.name);
    const { binding } = asked;
    if (binding === undefined) throw new ServiceError("FEATURE_NOT_ACTIVATED", "The operation is not activated yet.");
    const read = await readParameters(operation, asked.request, assumptions);
    // Within one turn, so that what a call was let in for still holds when it begins.
    const body = await gate.run(() => perform(asked, binding, account, read, services));
    return { status: operation.response.status, headers: quotaHeaders(false), body };
  } catch (error) {
    const answer = errorAnswer(error, requestId, logger);
    const isExhausted = error instanceof ServiceError && error.code === "PRO_API_QUOTA_EXHAUSTED";
    return { ...answer, headers: { ...answer.headers, ...quotaHeaders(isExhausted) } };
  }
}

/** @throws ServiceError 401, 403, RATE_LIMITED */
function admit(
  { name, operation, request }: OperationRequest,
  { access, assumptions }: CallServices,
): AccountView | null {
  if (operation.scope === null) return null;
  const authorization = request.headersDistinct["authorization"] ?? [];
  const caller = authenticate(authorization, access, { acceptsSession: operation.acceptsSession });
  access.rateLimiter.admit(caller.rateHolder);
  authorize(name, operation.scope, caller, assumptions);
  return caller.account;
}

async function perform(
  { operation, path, requestId }: OperationRequest,
  binding: OperationBinding<never>,
  account: AccountView | null,
  readParametersOf: () => Record<string, unknown>,
  { access, assumptions }: CallServices,
): Promise<object> {
  const isCounted = operation.quotaUnits > 0 && account !== null;
  const taken = isCounted && assumptions.refusedCallsCount ? access.quota.take(account) : null;
  const parameters = readParametersOf();
  // A binding gets the kind of call that its operation makes: with an account unless it is public.
  const call: ServiceCall = { account, parameters, path, requestId };
  const given = binding as unknown as OperationBinding<ServiceCall>;
  const isFree = given.isFree?.(call) ?? false;
  const unit = isCounted && taken === null && !isFree ? access.quota.take(account) : null;
  try {
    return await given.handle(call);
  } catch (error) {
    unit?.refund();
    throw error;
  }
}
