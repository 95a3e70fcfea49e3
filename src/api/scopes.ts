import { z } from "zod";

/** What an API key may be allowed (service document, Authentication). */
export const SCOPES = ["research:execute", "research:read", "webhooks:manage", "mcp:tools"] as const;

/** One of {@link SCOPES}. */
export type Scope = (typeof SCOPES)[number];

export const scopeSchema = z.enum(SCOPES);
