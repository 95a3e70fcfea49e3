import { z } from "zod";
import { parseJson } from "../../../base/text/parse-json.js";
import type { KnownEvent, UnknownEvent } from "./envelope.js";

/** Why authentic bytes cannot be used. It is stored with the quarantined event. */
export type UnusableReason =
  | "not_utf8"
  | "not_json"
  | "nested_too_deep"
  | "not_an_object"
  | "envelope_invalid"
  | "version_unsupported"
  | "data_invalid"
  | "challenge_missing";

/** The result of `parseEvent`. */
export type ParsedEvent =
  | { kind: "known"; event: KnownEvent }
  | { kind: "unknown"; event: UnknownEvent }
  | {
      kind: "unusable";
      reason: UnusableReason;
      /** The path of the first wrong property, such as `data.product.id`. */
      path?: string;
    };

/**
 * Longest event id and type, in UTF-16 units, because stores index them. Those of the service have
 * fewer than 40 units.
 */
export const MAX_NAME_LENGTH = 255;

// The schemas only check. The parsed JSON itself is handed off, so that extra properties are kept.
// Formats are not checked, so that a signal with a date in a new notation is still handed off.

/**
 * A text that every store keeps unchanged. A lone surrogate has no UTF-8, so two different ids
 * could become one key, and one event would be lost. Some databases and terminals cut a text at a
 * control character.
 */
export function isStorableName(text: unknown): text is string {
  if (typeof text !== "string" || text === "" || text.length > MAX_NAME_LENGTH) return false;
  return text.isWellFormed() && !/\p{Cc}/u.test(text);
}

const name = z.custom<string>(isStorableName);

const envelopeSchema = z.object({
  id: name,
  version: z.literal("1"),
  type: name,
  created_at: z.string(),
});

const measure = z.object({ value: z.number(), unit: z.string() });

export const signalDataSchema = z.object({
  signal_id: z.number(),
  signal_type: z.string(),
  product: z.object({ id: z.number(), slug: z.string() }),
  title: z.string(),
  summary: z.string(),
  change: z.object({
    direction: z.string(),
    magnitude: z.number(),
    before: measure,
    after: measure,
  }),
  observed_at: z.string(),
  period: z.object({ start: z.string(), end: z.string() }),
  published_at: z.string(),
  evidence_summary: z.string(),
  url: z.string(),
});

// A Map, because in an object the type "constructor" would be found.
const DATA_SCHEMAS = new Map<string, z.ZodType>([
  ["signal.published", signalDataSchema],
  ["webhook.test", z.object({ message: z.string() })],
  ["webhook.verification", z.object({ challenge: z.string() })],
]);

/**
 * Parses the bytes of a delivery whose signature was verified (service document, Events). Never
 * throws.
 *
 * - `known`: a valid event of one of the three types. Extra properties are kept.
 * - `unknown`: a valid envelope of another type, which a receiver stores and acknowledges.
 * - `unusable`: not JSON, or not valid for its type.
 *
 * A leading BOM is ignored. For duplicate keys the last value is used. `__proto__` keys are
 * dropped. Integers above 2^53 lose digits, as in `JSON.parse`.
 *
 * @example
 * const parsed = parseEvent(body);
 * if (parsed.kind === "known" && parsed.event.type === "signal.published") use(parsed.event.data);
 */
export function parseEvent(body: Uint8Array): ParsedEvent {
  const json = parseJson(body);
  if (!json.ok) return { kind: "unusable", reason: json.reason };
  const value = json.value;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { kind: "unusable", reason: "not_an_object" };
  }

  const envelope = envelopeSchema.safeParse(value);
  if (!envelope.success) {
    const path = firstPath(envelope.error);
    return {
      kind: "unusable",
      reason: path === "version" ? "version_unsupported" : "envelope_invalid",
      path,
    };
  }
  const event = value as UnknownEvent;
  const dataSchema = DATA_SCHEMAS.get(event.type);
  if (dataSchema === undefined) return { kind: "unknown", event };

  const data = dataSchema.safeParse(event.data);
  if (!data.success) {
    const path = ["data", firstPath(data.error)].filter((part) => part !== "").join(".");
    const reason = event.type === "webhook.verification" ? "challenge_missing" : "data_invalid";
    return { kind: "unusable", reason, path };
  }
  return { kind: "known", event: value as KnownEvent };
}

// A path contains only names that the schemas list, because the schemas report nothing about extra
// properties.
function firstPath(error: z.ZodError): string {
  return error.issues[0]?.path.join(".") ?? "";
}
