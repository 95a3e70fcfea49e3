import type { IncomingMessage } from "node:http";
import type { Operation, OperationName } from "../../api/operations.js";
import type { AccountView } from "../access/account-view.js";
import { authenticate, type Caller } from "../access/authenticate.js";
import type { ReportEvent } from "../instance/events.js";
import { authorize } from "../access/authorize.js";
import type { Access } from "../access/create-access.js";
import type { Assumptions } from "../instance/assumptions.js";
import type { OperationFaults } from "../operations/operation-faults.js";
import { ServiceError } from "../operations/service-error.js";
import type { Answer } from "./answer.js";
import { errorAnswer } from "./error-answer.js";
import type { Gate } from "../operations/shutdown-gate.js";
import type { OperationBinding, ServiceCall } from "../operations/operation-binding.js";
import { readParameters } from "./read-parameters.js";

/** What every call needs. */
export interface CallServices {
  access: Access;
  assumptions: Assumptions;
  faults: OperationFaults;
  gate: Gate;
  report: ReportEvent;
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
  const { access, assumptions, gate, report } = services;
  const { operation, requestId } = asked;
  let account: AccountView | null = null;
  function quotaHeaders(isExhausted: boolean): Record<string, string> {
    // A closed gate may have nothing behind it any more that could be asked.
    if (account === null || gate.isClosed) return {};
    return isExhausted || assumptions.quotaHeadersOnEveryAnswer ? access.quota.headers(account) : {};
  }
  try {
    const caller = identify(asked, services);
    // Known from here on, so that a refusal tells the quota too.
    account = caller?.account ?? null;
    if (caller !== null) admit(asked, caller, services);
    services.faults.assertUsable(asked.name);
    const { binding } = asked;
    if (binding === undefined) throw new ServiceError("FEATURE_NOT_ACTIVATED", "The operation is not activated yet.");
    const read = await readParameters(operation, asked.request, assumptions);
    // Within one turn, so that what a call was let in for still holds when it begins.
    const body = await gate.run(() => perform(asked, binding, account, read, services));
    return { status: operation.response.status, headers: quotaHeaders(false), body };
  } catch (error) {
    const answer = errorAnswer(error, requestId, report);
    const isExhausted = error instanceof ServiceError && error.code === "PRO_API_QUOTA_EXHAUSTED";
    return { ...answer, headers: { ...answer.headers, ...quotaHeaders(isExhausted) } };
  }
}

/** Null: the operation is public. @throws ServiceError 401 */
function identify({ operation, request }: OperationRequest, { access }: CallServices): Caller | null {
  if (operation.scope === null) return null;
  const authorization = request.headersDistinct["authorization"] ?? [];
  return authenticate(authorization, access, { acceptsSession: operation.acceptsSession });
}

/** @throws ServiceError RATE_LIMITED, 403 */
function admit({ name, operation }: OperationRequest, caller: Caller, { access, assumptions }: CallServices): void {
  access.rateLimiter.admit(caller.rateHolder, caller.account.tier);
  if (operation.scope !== null) authorize(name, operation.scope, caller, assumptions);
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
