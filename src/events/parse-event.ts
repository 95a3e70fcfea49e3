import type { z } from "zod";
import {
  envelopeSchema,
  signalDataSchema,
  testDataSchema,
  verificationDataSchema,
  type KnownEvent,
  type UnknownEvent,
} from "./envelope.js";
import { parseJson } from "./parse-json.js";

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

// A Map, because in an object the type "constructor" would be found.
const DATA_SCHEMAS = new Map<string, z.ZodType>([
  ["signal.published", signalDataSchema],
  ["webhook.test", testDataSchema],
  ["webhook.verification", verificationDataSchema],
]);

/**
 * Parses the bytes of a delivery whose signature was verified (service document, Events). Never throws.
 *
 * - `known`: a valid event of one of the three types. Extra properties are kept.
 * - `unknown`: a valid envelope of another type, which a receiver stores and acknowledges.
 * - `unusable`: not JSON, or not valid for its type.
 *
 * A leading BOM is ignored. For duplicate keys the last value is used. `__proto__` keys are dropped. Integers above 2^53 lose
 * digits, as in `JSON.parse`.
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
    return { kind: "unusable", reason: path === "version" ? "version_unsupported" : "envelope_invalid", path };
  }
  const event = value as UnknownEvent;
  const dataSchema = DATA_SCHEMAS.get(event.type);
  if (dataSchema === undefined) return { kind: "unknown", event };

  const data = dataSchema.safeParse(event.data);
  if (!data.success) {
    const path = ["data", firstPath(data.error)].filter((part) => part !== "").join(".");
    const reason = dataSchema === verificationDataSchema ? "challenge_missing" : "data_invalid";
    return { kind: "unusable", reason, path };
  }
  return { kind: "known", event: value as KnownEvent };
}

// A path contains only names that the schemas list, because the schemas report nothing about extra properties.
function firstPath(error: z.ZodError): string {
  return error.issues[0]?.path.join(".") ?? "";
}
