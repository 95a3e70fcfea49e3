import { z } from "zod";

const expectation = z.strictObject({
  status: z.int().min(100).max(599),
  body: z.json().optional(),
  code: z.string().optional(),
});

/** One case of `deliveries.json`; `fixtures/README.md` says what each key means. */
const delivery = z
  .strictObject({
    name: z.string().min(1),
    description: z.string().optional(),
    check: z.string().optional(),
    event: z.string().optional(),
    body: z.string().optional(),
    bodyBase64: z.base64().optional(),
    method: z
      .string()
      .regex(/^[A-Z]+$/)
      .optional(),
    secret: z.literal("other").optional(),
    skewSeconds: z.int().optional(),
    header: z.string().nullable().optional(),
    headerTwice: z.boolean().optional(),
    afterSigning: z.enum(["change-byte", "append-newline", "reserialise", "truncate", "empty", "gzip"]).optional(),
    padToBytes: z.int().min(0).optional(),
    chunked: z.boolean().optional(),
    repeat: z.int().min(1).max(1000).optional(),
    conflict: z.boolean().optional(),
    expect: expectation,
    expectRepeat: expectation.optional(),
  })
  .refine(
    ({ event, body, bodyBase64 }) => [event, body, bodyBase64].filter((part) => part !== undefined).length === 1,
    {
      message: "exactly one of event, body and bodyBase64 is needed",
    },
  );

export const deliveriesSchema = z.strictObject({ version: z.literal(1), deliveries: z.array(delivery) });

export type Delivery = z.infer<typeof delivery>;
export type Expectation = z.infer<typeof expectation>;
export type AfterSigning = NonNullable<Delivery["afterSigning"]>;
