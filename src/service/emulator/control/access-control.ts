import { z } from "zod";
import { SCOPES, scopeSchema, tierSchema } from "../../contract/access.js";
import { ACCOUNT_FEATURES, type Access } from "../access/create-access.js";
import { controlOperation } from "./control-operation.js";

const accountId = z.int().min(1);
const entitlements = z.array(z.enum(ACCOUNT_FEATURES)).optional();
const hourSeconds = 3600;
const yearSeconds = 366 * 24 * hourSeconds;

/**
 * The control operations on accounts, keys and sessions. The real service has them in its
 * dashboard.
 */
export function accessControl({ accounts, keys, quota }: Access) {
  return {
    createAccount: controlOperation(
      "POST /accounts",
      "Creates an account. Without entitlements it gets the entitlements of its tier.",
      {
        name: z.string().min(1).max(200).default("An account"),
        tier: tierSchema,
        entitlements,
      },
      (input) => accounts.create(input),
    ),
    updateAccount: controlOperation(
      "PATCH /accounts/{account_id}",
      "Changes an account's tier or entitlements.",
      { account_id: accountId, tier: tierSchema.optional(), entitlements },
      ({ account_id, ...changes }) => accounts.update(account_id, changes),
    ),
    listAccounts: controlOperation(
      "GET /accounts",
      "Lists the accounts, each with its counted calls of this month.",
      {},
      () => ({
        items: accounts
          .list()
          .map((account) => ({ ...account, calls_this_month: quota.used(account.account_id) })),
      }),
    ),
    createKey: controlOperation(
      "POST /accounts/{account_id}/keys",
      "Creates an API key; without scopes it gets all scopes. The key is shown only in this answer: store it.",
      {
        account_id: accountId,
        scopes: z.array(scopeSchema).default([...SCOPES]),
      },
      ({ account_id, scopes }) => keys.create(accounts.read(account_id).account_id, scopes),
    ),
    listKeys: controlOperation(
      "GET /accounts/{account_id}/keys",
      "Lists the keys of an account with their first characters, including revoked keys.",
      { account_id: accountId },
      ({ account_id }) => ({ items: keys.list(accounts.read(account_id).account_id) }),
    ),
    revokeKey: controlOperation(
      "DELETE /keys/{key_id}",
      "Revokes an API key. This cannot be undone.",
      { key_id: z.string() },
      ({ key_id }) => keys.revoke(key_id),
    ),
    createSession: controlOperation(
      "POST /accounts/{account_id}/sessions",
      "Creates a session token, which search demand and rankings accept instead of a key.",
      {
        account_id: accountId,
        lifetime_seconds: z.int().min(1).max(yearSeconds).default(hourSeconds),
      },
      ({ account_id, lifetime_seconds }) =>
        keys.createSession(accounts.read(account_id).account_id, lifetime_seconds),
    ),
  };
}
