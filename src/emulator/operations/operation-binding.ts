import type { z } from "zod";
import type { OPERATIONS, OperationName } from "../../api/operations.js";
import type { AccountView } from "../access/account-view.js";

/** A call that passed authentication, scope, rate limit and validation. */
export interface ServiceCall<Parameters = Record<string, unknown>> {
  /** Who calls; null for a public operation. */
  account: AccountView | null;
  /** The query or the body, parsed, with every default in its place. */
  parameters: Parameters;
  /** The path's parameters, decoded. */
  path: Record<string, string>;
  requestId: string;
}

/** A call of an operation that wants an account. */
export interface AccountCall<Parameters = Record<string, unknown>> extends ServiceCall<Parameters> {
  account: AccountView;
}

/**
 * Gives the body of the operation's one success status.
 *
 * @throws ServiceError for a refusal
 */
export type OperationHandler<Call extends ServiceCall = AccountCall> = (call: Call) => object | Promise<object>;

/** What answers an operation. */
export interface OperationBinding<Call extends ServiceCall = AccountCall> {
  handle: OperationHandler<Call>;
  /** True for a call that takes no unit of the quota after all, such as a retry that recovers what it began. */
  isFree?: (call: Call) => boolean;
}

/** What the parameters of an operation come out as. */
export type ParametersOf<Name extends OperationName> = (typeof OPERATIONS)[Name] extends {
  readonly [kind in "query"]: infer Query extends z.ZodObject;
}
  ? z.output<Query>
  : (typeof OPERATIONS)[Name] extends { readonly [kind in "body"]: infer Body extends z.ZodObject }
    ? z.output<Body>
    : Record<string, unknown>;

/** The call of an operation, by its name. */
export type CallOf<Name extends OperationName> = Name extends "productProfile"
  ? ServiceCall<{ locale: string }>
  : AccountCall<ParametersOf<Name>>;

/** What answers each operation. One without a binding is not activated: 503. */
export type OperationBindings = { [Name in OperationName]?: OperationBinding<CallOf<Name>> };
