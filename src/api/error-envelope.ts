import { z } from "zod";

/** Every error body of the service (service document, Error envelope). */
export const errorEnvelopeSchema = z.looseObject({
  error: z.looseObject({ code: z.string(), message: z.string(), details: z.unknown().optional() }),
  request_id: z.string(),
});

export type ErrorEnvelope = z.infer<typeof errorEnvelopeSchema>;

/** `details` of an exhausted quota (service document, Errors). */
export const quotaDetailsSchema = z.looseObject({ limit: z.int(), remaining: z.int() });
