import { z } from "zod";
import { signals } from "./signals.js";
import { checkOptions, OptionError } from "../options/option-error.js";
import { functionOption, millisecondsOption } from "../options/option-schemas.js";

const FACTORY = "defineSender";
const header = z.string().regex(/^[\w-]+$/, "expected the name of a header");
const text = z.string().min(1);
/** Where a sender posts to, as it signs that address. */
export const publicUrlOption = z.url({
  protocol: /^https?$/,
  error: "expected the address as the sender has it, such as https://hooks.example/webhooks",
});

const definitionSchema = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9-]{1,50}$/, "expected 1 to 50 small letters, digits or hyphens")
    .refine((name) => name !== signals.name, "expected another name than that of the service"),
  headers: z.array(header).optional(),
  signature: z.strictObject({
    header,
    prefix: z.string().optional(),
    list: z.strictObject({ between: text, assign: text, signature: text, time: text.optional() }).optional(),
    message: z.union([functionOption(), z.array(z.string())]).optional(),
    id: header.optional(),
    time: z
      .strictObject({
        list: z.literal(true).optional(),
        header: header.optional(),
        property: text.optional(),
        form: z.enum(["seconds", "milliseconds", "iso"]).optional(),
      })
      .optional(),
    digest: z.enum(["sha256", "sha1", "sha512", "ed25519", "ecdsa"]).optional(),
    encoding: z.enum(["hex", "base64"]).optional(),
    key: z.enum(["text", "base64", "hex"]).optional(),
    keyPrefix: z.string().optional(),
  }),
  publicUrl: publicUrlOption.optional(),
  read: functionOption(),
  unsignedId: z.boolean().optional(),
  repeatedBody: z.enum(["keep", "drop"]).optional(),
  otherBody: z.enum(["duplicate", "conflict"]).optional(),
  alsoReads: z.array(text).optional(),
  handshake: z.strictObject({ get: functionOption().optional(), post: functionOption().optional() }).optional(),
  acknowledgement: z
    .union([
      z.strictObject({ json: z.record(z.string(), z.unknown()) }),
      z.strictObject({ text: z.string(), contentType: text.optional() }),
    ])
    .optional(),
  sample: functionOption().optional(),
  bodyLimitBytes: z.int().min(1).optional(),
  ackTimeoutMs: millisecondsOption.optional(),
  toleranceSeconds: z.number().min(1).optional(),
});

/**
 * Refuses what could not work, and what would let a forged delivery in: a body, a time or an id that the signature does not cover.
 *
 * @throws SignalboxError `option_unknown`, `option_invalid`
 */
export function checkDefinition(definition: unknown): void {
  const { signature, publicUrl, unsignedId = false } = checkOptions(FACTORY, definitionSchema, definition);
  const { message = ["body"], id, time, list } = signature;
  const signed = new Set(Array.isArray(message) ? message : []);
  const isFunction = !Array.isArray(message);
  const isTimeSent = time !== undefined && time.property === undefined;
  const places = [time?.list, time?.header, time?.property].filter((place) => place !== undefined);
  const contradictions = [
    [time !== undefined && places.length !== 1, "time", "expected one of list, header and property"],
    [
      !isFunction && !signed.has("body"),
      "message",
      'expected the part "body": without it, one signature fits every body',
    ],
    [
      isTimeSent && !signed.has("time"),
      "message",
      'expected the part "time", since the signature has a time: without it, anyone can make an old delivery new',
    ],
    [!isTimeSent && signed.has("time"), "time", 'expected { header } or { list: true } for the part "time" of message'],
    [time?.list === true && list?.time === undefined, "list.time", "expected the name of the item"],
    [id === undefined && signed.has("id"), "id", 'expected a header for the part "id" of message'],
    [
      id !== undefined && !signed.has("id") && !unsignedId,
      "id",
      'expected a header that the part "id" of message signs; otherwise set unsignedId: true',
    ],
    [publicUrl === undefined && signed.has("url"), "message", 'the part "url" needs the option publicUrl'],
  ] as const;
  for (const [isWrong, option, problem] of contradictions) {
    if (isWrong) throw new OptionError(FACTORY, `signature.${option}`, problem);
  }
}
