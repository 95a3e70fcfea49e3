import { z } from "zod";
import { checkOptions, OptionError } from "../../../base/options/option-error.js";
import { functionOption, millisecondsOption } from "../../../base/options/option-schemas.js";
import { signals } from "../signals/signals.js";
import { namesOf } from "./compile-scheme.js";
import type { PublicUrl } from "./scheme.js";

const FACTORY = { name: "defineSender", page: "docs/own-sender.md" };
const refusal = (option: string, problem: string) => new OptionError(FACTORY, option, problem);
const header = z.string().regex(/^[\w-]+$/, "expected the name of a header");
const text = z.string().min(1);
const headerNames = z.union([header, z.array(header).min(1)]);
/** Where a sender posts to, as it signs that address. */
export const publicUrlOption = z.union(
  [z.url({ protocol: /^https?$/ }), functionOption<Exclude<PublicUrl, string>>()],
  "expected the address as the sender has it, such as https://hooks.example/webhooks, or a function that makes it",
);
/** The options of a sender that signs neither id nor type. */
export const repeatedBodyOptions = { repeatedBody: z.enum(["keep", "drop"]).optional() };
const hash = z.enum(["sha256", "sha1", "sha512"]);
const time = z.strictObject({
  list: z.literal(true).optional(),
  header: header.optional(),
  property: text.optional(),
  form: z.enum(["seconds", "milliseconds", "iso"]).optional(),
});
const signedSchema = z.strictObject({
  header: headerNames,
  prefix: z.string().optional(),
  list: z
    .strictObject({
      between: text,
      assign: text.optional(),
      signature: text.optional(),
      time: text.optional(),
    })
    .optional(),
  message: z.union([functionOption(), z.array(z.string())]).optional(),
  id: headerNames.optional(),
  time: time.optional(),
  digest: z
    .union([hash, z.enum(["ed25519", "ecdsa", "rsa-sha256"]), z.array(hash).min(1)])
    .optional(),
  encoding: z.enum(["hex", "base64", "base64url"]).optional(),
  key: z.enum(["text", "base64", "hex"]).optional(),
  keyPrefix: z.string().optional(),
});
const tokenSchema = z.strictObject({
  header: headerNames,
  token: z.literal(true),
  prefix: z.string().optional(),
  id: header.optional(),
});
const basicSchema = z.strictObject({ basic: z.literal(true), id: header.optional() });

const definitionSchema = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9-]{1,50}$/, "expected 1 to 50 small letters, digits or hyphens")
    .refine((name) => name !== signals.name, "expected another name than that of the service"),
  headers: z.array(header).optional(),
  signature: z.looseObject({}).optional(),
  verify: functionOption().optional(),
  publicUrl: publicUrlOption.optional(),
  read: functionOption(),
  unsignedId: z.boolean().optional(),
  unsignedFacts: z.array(z.enum(["type", "subtype", "subject"])).optional(),
  repeatedBody: z.enum(["keep", "drop"]).optional(),
  otherBody: z.enum(["duplicate", "conflict"]).optional(),
  alsoReads: z.array(text).optional(),
  handshake: z
    .strictObject({
      get: functionOption().optional(),
      options: functionOption().optional(),
      unsigned: functionOption().optional(),
      post: functionOption().optional(),
    })
    .optional(),
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

/** The headers that are stored with each event, whoever sends it. */
export const ALWAYS_KEPT: readonly string[] = ["content-type", "user-agent"];

/** Headers that hold secrets, whoever sends them. */
const SECRET_HEADERS = ["authorization", "proxy-authorization", "cookie"];

/**
 * Refuses what could not work, and what would let a forged delivery in: a body, a time or an id
 * that the signature does not cover.
 *
 * @throws SignalboxError `option_unknown`, `option_invalid`
 */
export function checkDefinition(definition: unknown): void {
  const checked = checkOptions(FACTORY, definitionSchema, definition);
  const { signature, verify } = checked;
  if ((signature === undefined) === (verify === undefined))
    throw refusal("signature", "expected either signature or verify");
  const secretNames = [...SECRET_HEADERS];
  if (signature !== undefined && "token" in signature) {
    const { header: names, id } = checkPart(tokenSchema, signature);
    secretNames.push(...namesOf(names));
    if (secretNames.some((name) => ALWAYS_KEPT.includes(name)))
      throw refusal("signature.header", "expected a header that is not stored with each event");
    assertNoSecret("signature.id", id, secretNames);
  } else if (signature !== undefined && "basic" in signature) {
    assertNoSecret("signature.id", checkPart(basicSchema, signature).id, secretNames);
  } else if (signature !== undefined) {
    const signed = checkPart(signedSchema, signature);
    for (const id of namesOf(signed.id)) assertNoSecret("signature.id", id, secretNames);
    checkSigned(signed, checked);
  }
  for (const name of checked.headers ?? []) assertNoSecret("headers", name, secretNames);
}

function assertNoSecret(
  option: string,
  name: string | undefined,
  secretNames: readonly string[],
): void {
  if (name !== undefined && secretNames.includes(name.toLowerCase()))
    throw refusal(option, `"${name}" holds a secret, which is not stored with an event`);
}

/** Checks it below its own name, so that an error has the option's whole name. */
function checkPart<Schema extends z.ZodObject>(
  schema: Schema,
  signature: unknown,
): z.output<Schema> {
  const checked: unknown = checkOptions(FACTORY, z.strictObject({ signature: schema }), {
    signature,
  });
  return (checked as { signature: z.output<Schema> }).signature;
}

function checkSigned(
  signature: z.output<typeof signedSchema>,
  { publicUrl, unsignedId = false }: z.output<typeof definitionSchema>,
): void {
  const { message = ["body"], id, time: at, list } = signature;
  const parts = Array.isArray(message) ? message.filter((part) => part !== "") : [];
  const signed = new Set(parts);
  const isFunction = !Array.isArray(message);
  const isTimeSent = at !== undefined && at.property === undefined;
  const places = [at?.list, at?.header, at?.property].filter((place) => place !== undefined);
  const contradictions = [
    [at !== undefined && places.length !== 1, "time", "expected one of list, header and property"],
    [
      !isFunction && !signed.has("body"),
      "message",
      'expected the part "body": without it, one signature fits every body',
    ],
    [
      !isFunction && isTimeSent && !signed.has("time"),
      "message",
      'expected the part "time", since the signature has a time: without it, anyone can make an old delivery new',
    ],
    [
      !isTimeSent && signed.has("time"),
      "time",
      'expected { header } or { list: true } for the part "time" of message',
    ],
    [at?.list === true && list?.time === undefined, "list.time", "expected the name of the item"],
    [
      (list?.assign === undefined) !== (list?.signature === undefined),
      "list",
      "expected both of assign and signature, or neither",
    ],
    [
      list?.assign === undefined && list?.time !== undefined,
      "list.assign",
      "expected the text before the time",
    ],
    [id === undefined && signed.has("id"), "id", 'expected a header for the part "id" of message'],
    [
      id !== undefined && !signed.has("id") && !unsignedId,
      "id",
      'expected a header that the part "id" of message signs; otherwise set unsignedId: true',
    ],
    [
      publicUrl === undefined && signed.has("url"),
      "message",
      'the part "url" needs the option publicUrl',
    ],
    [
      parts.some((part, index) => canBeSplitAgain(part, parts[index + 1], signature, publicUrl)),
      "message",
      'expected a text between "id", or a "url" that a function makes, and the next part: without it, text of one can be moved into the other',
    ],
  ] as const;
  for (const [isWrong, option, problem] of contradictions) {
    if (isWrong) throw refusal(`signature.${option}`, problem);
  }
}

/**
 * Whether the border between two parts is not signed. A time in ISO 8601 shows where it begins and
 * ends; a fixed address does not change.
 */
function canBeSplitAgain(
  part: string,
  next: string | undefined,
  { time: at }: z.output<typeof signedSchema>,
  publicUrl: unknown,
): boolean {
  if (next === undefined) return false;
  const isFree = (each: string): boolean =>
    each === "id" || (each === "url" && typeof publicUrl === "function");
  const isSent = (each: string): boolean =>
    isFree(each) || each === "body" || (each === "time" && at?.form !== "iso");
  return (isFree(part) && isSent(next)) || (isFree(next) && isSent(part));
}
