import { z } from "zod";

/**
 * The access tiers of an account (service document, Access tiers); the public tier has no account.
 */
export const TIERS = ["developer", "pro", "enterprise"] as const;

/** One of {@link TIERS}. */
export type Tier = (typeof TIERS)[number];

export const tierSchema = z.enum(TIERS);

/**
 * The entitlements of an account, which an operation can require in addition to a key's scopes
 * (service document, Authentication).
 */
export const ENTITLEMENTS = [
  "api.access",
  "search_demand.full_database",
  "market.rankings",
  "market.advanced_filters",
] as const;

/** One of {@link ENTITLEMENTS}. */
export type Entitlement = (typeof ENTITLEMENTS)[number];

/** The scopes that an API key can have (service document, Authentication). */
export const SCOPES = [
  "research:execute",
  "research:read",
  "webhooks:manage",
  "mcp:tools",
] as const;

/** One of {@link SCOPES}. */
export type Scope = (typeof SCOPES)[number];

export const scopeSchema = z.enum(SCOPES);
