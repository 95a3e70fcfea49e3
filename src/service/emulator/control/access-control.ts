import { z } from "zod";
import { SCOPES, scopeSchema, tierSchema } from "../../contract/access.js";
import { ACCOUNT_FEATURES } from "../access/accounts.js";
import type { Access } from "../access/create-access.js";
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
    createAccount: controlOperation({
      method: "POST",
      path: "/accounts",
      about: "Creates an account. Without entitlements it gets the entitlements of its tier.",
      input: z.strictObject({
        name: z.string().min(1).max(200).default("An account"),
        tier: tierSchema,
        entitlements,
      }),
      run: (input) => accounts.create(input),
    }),
    updateAccount: controlOperation({
      method: "PATCH",
      path: "/accounts/{account_id}",
      about: "Changes an account's tier or entitlements.",
      input: z.strictObject({ account_id: accountId, tier: tierSchema.optional(), entitlements }),
      run: ({ account_id, ...changes }) => accounts.update(account_id, changes),
    }),
    listAccounts: controlOperation({
      method: "GET",
      path: "/accounts",
      about: "Lists the accounts, each with its counted calls of this month.",
      input: z.strictObject({}),
      run: () => ({
        items: accounts
          .list()
          .map((account) => ({ ...account, calls_this_month: quota.used(account.account_id) })),
      }),
    }),
    createKey: controlOperation({
      method: "POST",
      path: "/accounts/{account_id}/keys",
      about:
        "Creates an API key; without scopes it gets all scopes. The key is shown only in this answer: store it.",
      input: z.strictObject({
        account_id: accountId,
        scopes: z.array(scopeSchema).default([...SCOPES]),
      }),
      run: ({ account_id, scopes }) => keys.create(accounts.read(account_id).account_id, scopes),
    }),
    listKeys: controlOperation({
      method: "GET",
      path: "/accounts/{account_id}/keys",
      about: "Lists the keys of an account with their first characters, including revoked keys.",
      input: z.strictObject({ account_id: accountId }),
      run: ({ account_id }) => ({ items: keys.list(accounts.read(account_id).account_id) }),
    }),
    revokeKey: controlOperation({
      method: "DELETE",
      path: "/keys/{key_id}",
      about: "Revokes an API key. This cannot be undone.",
      input: z.strictObject({ key_id: z.string() }),
      run: ({ key_id }) => keys.revoke(key_id),
    }),
    createSession: controlOperation({
      method: "POST",
      path: "/accounts/{account_id}/sessions",
      about: "Creates a session token, which search demand and rankings accept instead of a key.",
      input: z.strictObject({
        account_id: accountId,
        lifetime_seconds: z.int().min(1).max(yearSeconds).default(hourSeconds),
      }),
      run: ({ account_id, lifetime_seconds }) =>
        keys.createSession(accounts.read(account_id).account_id, lifetime_seconds),
    }),
  };
}
