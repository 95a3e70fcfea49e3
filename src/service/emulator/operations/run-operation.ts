import type { Scope } from "../../contract/access.js";
import { OPERATIONS, type Operation, type OperationName } from "../../contract/operations.js";
import type { AccountInfo } from "../access/accounts.js";
import { type Caller, authorize } from "../access/authorize.js";
import type { Access } from "../access/create-access.js";
import type { OperationBinding, OperationBindings, ServiceCall } from "./bind-operations.js";
import type { OperationFaults } from "./operation-faults.js";
import type { ShutdownGate } from "./shutdown-gate.js";

export interface OperationServices {
  access: Access;
  bindings: OperationBindings;
  faults: OperationFaults;
  gate: ShutdownGate;
}

export interface OperationCall {
  name: OperationName;
  /** Null for a public operation. */
  caller: Caller | null;
  /** A scope that the caller needs besides the operation's. */
  extraScope?: Scope;
  /** Reads and checks the parameters. @throws ServiceError 400 */
  read: () => Record<string, unknown> | Promise<Record<string, unknown>>;
}

/**
 * The body of the success status or the error. `headers` are the quota headers of either answer, if
 * it has any.
 */
export type OperationOutcome = { headers: Record<string, string> } & (
  { body: object } | { error: unknown }
);

/**
 * Runs an operation. It checks in this order: the rate (429), scope and entitlements (403), whether
 * a fault is set (503), the parameters (400), the quota of the month (429).
 */
export async function runOperation(
  { name, caller, extraScope, read }: OperationCall,
  services: OperationServices,
): Promise<OperationOutcome> {
  const { access, faults, gate } = services;
  const operation: Operation = OPERATIONS[name];
  const account = caller?.account ?? null;
  try {
    if (caller !== null) {
      access.rateLimiter.admit(caller.rateHolder, caller.account.tier);
      const required = [extraScope, operation.scope].filter(
        (scope) => scope !== undefined && scope !== null,
      );
      authorize(name, required, caller);
    }
    await gate.run(() => faults.assertUsable(name));
    const parameters = await read();
    const body = await gate.run(() => perform(name, { account, parameters }, services));
    return { body, headers: quotaHeaders(account, services) };
  } catch (error) {
    return { error, headers: quotaHeaders(account, services) };
  }
}

/** Uses a unit of the quota, unless the operation refuses the call. */
function perform(
  name: OperationName,
  call: ServiceCall,
  { access, bindings }: OperationServices,
): object {
  // The binding of a protected operation expects an account, and the call of such an operation
  // always has an account.
  const binding = bindings[name] as unknown as OperationBinding<ServiceCall>;
  const { account } = call;
  const isCounted = OPERATIONS[name].quotaUnits > 0 && account !== null && !binding.isFree?.(call);
  return isCounted
    ? access.quota.counted(account, () => binding.handle(call))
    : binding.handle(call);
}

/**
 * Returns the quota headers of every answer to a caller with a quota, so that it knows how many
 * calls are left.
 */
export function quotaHeaders(
  account: AccountInfo | null,
  { access, gate }: Pick<OperationServices, "access" | "gate">,
): Record<string, string> {
  // When the gate is closed, the database may be closed too, so the quota cannot be read.
  return account === null || gate.isClosed ? {} : access.quota.headers(account);
}
