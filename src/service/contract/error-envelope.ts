import { z } from "zod";
import { openObject } from "./shared-schemas.js";

/**
 * The error codes of the service, with the status of each. The service's document names only
 * `PRO_API_QUOTA_EXHAUSTED`. The other codes are assumptions of the emulator, so branch on the
 * status if you can.
 */
export const ERROR_STATUS = {
  INVALID_PARAMETERS: 400,
  INVALID_BODY: 400,
  API_KEY_MISSING: 401,
  API_KEY_INVALID: 401,
  API_KEY_REVOKED: 401,
  SESSION_INVALID: 401,
  SCOPE_INSUFFICIENT: 403,
  ACCESS_INSUFFICIENT: 403,
  API_KEY_NOT_ALLOWED: 403,
  PRODUCT_NOT_FOUND: 404,
  TASK_NOT_FOUND: 404,
  RESOURCE_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  IDEMPOTENCY_KEY_CONFLICT: 409,
  STATE_CONFLICT: 409,
  RATE_LIMITED: 429,
  PRO_API_QUOTA_EXHAUSTED: 429,
  ACTIVE_INVESTIGATIONS_EXCEEDED: 429,
  REGISTRATIONS_EXCEEDED: 429,
  DATA_UNAVAILABLE: 503,
  FEATURE_NOT_ACTIVATED: 503,
} as const;

/** One of {@link ERROR_STATUS}. */
export type ServiceErrorCode = keyof typeof ERROR_STATUS;

/** The body of every error of the service (service document, Error envelope). */
export const errorEnvelopeSchema = openObject({
  error: openObject({ code: z.string(), message: z.string(), details: z.unknown().optional() }),
  request_id: z.string().describe("The id of this request, for the service's support."),
}).describe("The body of every error.");

export type ErrorEnvelope = z.infer<typeof errorEnvelopeSchema>;

/** The `details` of the error for an exhausted quota (service document, Errors). */
export const quotaDetailsSchema = openObject({ limit: z.int(), remaining: z.int() });
