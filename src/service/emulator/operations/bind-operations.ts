import type { z } from "zod";
import type { OPERATIONS, OperationName } from "../../contract/operations.js";
import { hasQuota, type AccountInfo } from "../access/accounts.js";
import { authorizeRankingSort } from "../access/authorize.js";
import type { EmulatorCore } from "../instance/core.js";
import type { Investigations } from "../investigations/create-investigations.js";
import { readProductProfile } from "../market/read-product-profile.js";
import { readRankings } from "../research/read-rankings.js";
import { readSearchDemand } from "../research/read-search-demand.js";
import type { Webhooks } from "../webhooks/create-webhooks.js";
import { ServiceError } from "./service-error.js";

/** A call that passed all checks but the quota. */
export interface ServiceCall<Parameters = Record<string, unknown>> {
  /** Null for a public operation. */
  account: AccountInfo | null;
  /** The parameters of the path, and the query or the body with all defaults. */
  parameters: Parameters;
}

interface AccountCall<Parameters> extends ServiceCall<Parameters> {
  account: AccountInfo;
}

/** The implementation of an operation. */
export interface OperationBinding<Call extends ServiceCall> {
  /** @returns the body of the operation's success status. @throws ServiceError */
  handle(call: Call): object;
  /** Whether the call uses no unit of the quota, because it repeats an earlier call. */
  isFree?(call: Call): boolean;
}

type ParametersOf<Name extends OperationName> = (typeof OPERATIONS)[Name] extends {
  readonly [kind in "query"]: infer Query extends z.ZodObject;
}
  ? z.output<Query>
  : (typeof OPERATIONS)[Name] extends { readonly [kind in "body"]: infer Body extends z.ZodObject }
    ? z.output<Body>
    : Record<string, unknown>;

type CallOf<Name extends OperationName> = Name extends "productProfile"
  ? ServiceCall<{ slug: string; locale: string }>
  : Name extends "readInvestigation"
    ? AccountCall<{ task_id: string }>
    : AccountCall<ParametersOf<Name>>;

export type OperationBindings = { [Name in OperationName]: OperationBinding<CallOf<Name>> };

/** Binds each operation to its implementation. */
export function bindOperations(
  { database }: Pick<EmulatorCore, "database">,
  investigations: Investigations,
  webhooks: Webhooks,
): OperationBindings {
  return {
    startInvestigation: {
      handle: ({ account, parameters }) => investigations.start(account.account_id, parameters),
      isFree: ({ account, parameters }) => investigations.isRepeat(account.account_id, parameters),
    },
    readInvestigation: {
      handle: ({ account, parameters }) =>
        investigations.read(account.account_id, parameters.task_id),
    },
    registerWebhook: {
      handle: ({ account, parameters }) => webhooks.register(account.account_id, parameters),
    },
    productProfile: {
      handle({ parameters }) {
        const profile = readProductProfile(database, parameters.slug, parameters.locale);
        if (profile === null)
          throw new ServiceError("PRODUCT_NOT_FOUND", "There is no product with this slug.");
        return profile;
      },
    },
    searchDemand: {
      handle: ({ account, parameters }) => readSearchDemand(database, parameters, viewOf(account)),
    },
    rankings: {
      handle({ account, parameters }) {
        authorizeRankingSort(account, parameters.sort);
        return readRankings(database, parameters, viewOf(account));
      },
    },
  };
}

const viewOf = (account: AccountInfo): { isLimited: boolean } => ({ isLimited: hasQuota(account) });
