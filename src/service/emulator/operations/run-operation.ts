import type { z } from "zod";
import type { Scope } from "../../contract/access.js";
import { OPERATIONS, type Operation, type OperationName } from "../../contract/operations.js";
import { authorize, authorizeRankingSort, type Caller } from "../access/authorize.js";
import { hasQuota, type Access, type AccountInfo } from "../access/create-access.js";
import type { EmulatorCore } from "../instance/core.js";
import type { Investigations } from "../investigations/create-investigations.js";
import { readProductProfile } from "../market/read-product-profile.js";
import { readRankings } from "../research/read-rankings.js";
import { readSearchDemand } from "../research/read-search-demand.js";
import type { Webhooks } from "../webhooks/create-webhooks.js";
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
type OperationOutcome = { headers: Record<string, string> } & (
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
    const body = await gate.run(() => perform(name, account, parameters, services));
    return { body, headers: quotaHeaders(account, services) };
  } catch (error) {
    return { error, headers: quotaHeaders(account, services) };
  }
}

/** Uses a unit of the quota, unless the operation refuses the call. */
function perform(
  name: OperationName,
  account: AccountInfo | null,
  parameters: Record<string, unknown>,
  { access, bindings }: OperationServices,
): object {
  const binding = bindings[name] as unknown as OperationBinding<object>;
  // Only the bindings of protected operations use the account, and their calls have one.
  const caller = account as AccountInfo;
  const handle = (): object => binding.handle(parameters, caller);
  if (OPERATIONS[name].quotaUnits === 0 || binding.isFree?.(parameters, caller)) return handle();
  return access.quota.counted(caller, handle);
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

/** The parameters of the path, and the query or the body with all defaults. */
type ParametersOf<Name extends OperationName> = Name extends "productProfile"
  ? { slug: string; locale: string }
  : Name extends "readInvestigation"
    ? { task_id: string }
    : (typeof OPERATIONS)[Name] extends { readonly [kind in "query" | "body"]?: infer Schema }
      ? z.output<Schema & z.ZodType>
      : never;

/** The implementation of an operation. A public operation gets no account. */
interface OperationBinding<Parameters> {
  /** @returns the body of the operation's success status. @throws ServiceError */
  handle(parameters: Parameters, account: AccountInfo): object;
  /** Whether the call uses no unit of the quota, because it repeats an earlier call. */
  isFree?(parameters: Parameters, account: AccountInfo): boolean;
}

type OperationBindings = { [Name in OperationName]: OperationBinding<ParametersOf<Name>> };

const viewOf = (account: AccountInfo) => ({ isLimited: hasQuota(account) });

/** Binds each operation to its implementation. */
export function bindOperations(
  { database }: EmulatorCore,
  investigations: Investigations,
  webhooks: Webhooks,
): OperationBindings {
  return {
    startInvestigation: {
      handle: (parameters, { account_id }) => investigations.start(account_id, parameters),
      isFree: (parameters, { account_id }) => investigations.isRepeat(account_id, parameters),
    },
    readInvestigation: {
      handle: ({ task_id }, { account_id }) => investigations.read(account_id, task_id),
    },
    registerWebhook: {
      handle: (parameters, { account_id }) => webhooks.register(account_id, parameters),
    },
    productProfile: {
      handle: ({ slug, locale }) => readProductProfile(database, slug, locale),
    },
    searchDemand: {
      handle: (parameters, account) => readSearchDemand(database, parameters, viewOf(account)),
    },
    rankings: {
      handle(parameters, account) {
        authorizeRankingSort(account, parameters.sort);
        return readRankings(database, parameters, viewOf(account));
      },
    },
  };
}
