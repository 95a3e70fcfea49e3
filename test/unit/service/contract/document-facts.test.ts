import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { DEFAULT_TOLERANCE_SECONDS } from "../../../../src/kit/senders/signature/verify.js";
import { ENTITLEMENTS, SCOPES, TIERS } from "../../../../src/service/contract/access.js";
import { LIMITS } from "../../../../src/service/contract/limits.js";
import { OPERATIONS } from "../../../../src/service/contract/operations.js";
import { DOCUMENT } from "./contract.js";
import { resolved } from "./document-validator.js";

// Copied by hand from the service's document, never written by the code: what the code says by
// mistake must differ from it. A field's notation: `optional text ..20 | null = en`.
const FACTS = JSON.parse(
  readFileSync(join(import.meta.dirname, "document-facts.json"), "utf8"),
) as Record<string, object>;

type Json = Record<string, unknown>;

interface Schema extends Partial<Record<"minLength" | "minItems" | "minimum", number>> {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  format?: string;
  pattern?: string;
  maxLength?: number;
  maxItems?: number;
  maximum?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  default?: string | number;
  /** Of a header. */
  schema?: Schema;
}

function notationOf({ anyOf, type, default: byDefault, ...schema }: Schema): string {
  const kinds = anyOf?.map(notationOf) ?? [type].flat().map((kind) => kindOf(schema, kind));
  const whole = kinds.join(" | ");
  return byDefault === undefined ? whole : `${whole} = ${String(byDefault)}`;
}

function kindOf(schema: Schema, type = "anything"): string {
  const { $ref, items, properties, format, pattern } = schema;
  const values = schema.enum ?? ("const" in schema ? [schema.const] : []);
  if ($ref !== undefined) return nameOf($ref);
  if (values.length > 0) return values.join(" | ");
  if (properties !== undefined) {
    const fields = Object.entries(fieldsOf(schema)).map((field) => field.join(": "));
    return `{ ${fields.join(", ")} }`;
  }
  if (type === "null") return type;
  const kind = type === "string" ? "text" : type;
  const form = format === undefined && pattern !== undefined ? ` /${pattern}/` : "";
  return (items ? `[${notationOf(items)}]` : (format ?? kind)) + rangeOf(schema) + form;
}

function rangeOf({ minLength, minItems, minimum, maxLength, maxItems, maximum }: Schema): string {
  const least = minLength ?? minItems ?? minimum ?? "";
  // The largest integer is a limit of JSON, not a bound.
  const highest = maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum;
  const most = maxLength ?? maxItems ?? highest ?? "";
  return least === "" && most === "" ? "" : ` ${least}..${most}`;
}

function fieldsOf({ properties = {}, required = [] }: Schema): Record<string, string> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [
      name,
      (required.includes(name) ? "" : "optional ") + notationOf(schema),
    ]),
  );
}

const nameOf = (reference: string): string => reference.split("/").at(-1) ?? "";

interface Operation {
  security: Record<string, string[]>[];
  parameters?: unknown[];
  requestBody?: Json;
  responses: Record<string, Json>;
}
interface Content {
  content?: { "application/json": { schema: Schema } };
  headers?: object;
}

function bodyOf(message: unknown): string {
  const { content } = resolved(DOCUMENT, message) as Content;
  return content === undefined ? "none" : notationOf(content["application/json"].schema);
}

function describe({ security, parameters = [], requestBody = {}, responses }: Operation): object {
  const told = parameters.map((parameter) => {
    const { name, required, schema, ...its } = resolved(DOCUMENT, parameter);
    const place = `${required === true ? "required " : ""}in ${String(its["in"])}`;
    return [name, `${place}: ${notationOf(schema as Schema)}`];
  });
  const answers = Object.entries(responses).map(([status, response]) => {
    const headers = Object.keys((resolved(DOCUMENT, response) as Content).headers ?? {});
    return [status, [bodyOf(response), ...headers].join(" ")];
  });
  return {
    security: security.flatMap((way) =>
      Object.entries(way).map(([name, scopes]) => [name, ...scopes].join(" ")),
    ),
    body: bodyOf(requestBody),
    parameters: Object.fromEntries(told) as object,
    answers: Object.fromEntries(answers) as object,
  };
}

const { schemas, headers } = DOCUMENT.components as Record<string, Record<string, Schema>>;

function notationsOf(named: Record<string, Schema> = {}): Json {
  return Object.fromEntries(
    Object.entries(named).map(([name, { schema, ...its }]) => {
      const { properties } = its;
      return [name, properties === undefined ? notationOf(schema ?? its) : fieldsOf(its)];
    }),
  );
}

const SAID: Json = {
  server: DOCUMENT.servers[0]?.url,
  components: notationsOf(schemas),
  closed: Object.keys(schemas ?? {}).filter((name) =>
    JSON.stringify(schemas?.[name]).includes('"additionalProperties":false'),
  ),
  headers: notationsOf(headers),
  operations: Object.fromEntries(
    Object.entries({ ...DOCUMENT.paths, ...DOCUMENT.webhooks }).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => [
        `${method} ${path}`,
        describe(operation as Operation),
      ]),
    ),
  ),
  quotaUnits: Object.fromEntries(
    Object.entries(OPERATIONS).map(([name, { quotaUnits }]) => [name, quotaUnits]),
  ),
  access: { scopes: SCOPES, entitlements: ENTITLEMENTS, tiers: TIERS },
  limits: LIMITS,
};

test("the contract says what the service's document says [errors/quota-headers] [event-envelope/created_at] [event-envelope/data] [event-envelope/id] [event-envelope/type] [event-envelope/version] [event-types/signal.published] [event-types/webhook.test] [event-types/webhook.verification] [keyword-row-notes/more-fields] [profile-notes/more-fields] [ranking-item-notes/more-fields] [register-webhook-notes/unknown-keys] [signal-data/change] [signal-data/evidence_summary] [signal-data/observed_at] [signal-data/period] [signal-data/product] [signal-data/published_at] [signal-data/signal_id] [signal-data/signal_type] [signal-data/summary] [signal-data/title] [signal-data/url] [start-investigation-notes/unknown-keys] [versioning/event-version]", () => {
  expect(SAID).toEqual(FACTS);
  // What doctor, the emulator and a receiver without the option use.
  expect(DEFAULT_TOLERANCE_SECONDS).toBe(LIMITS.signatureAgeSeconds);
});
