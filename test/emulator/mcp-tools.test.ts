import { randomUUID } from "node:crypto";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { afterAll, beforeAll, expect, test } from "vitest";
import { MCP_TOOLS } from "../../src/api/mcp-tools.js";
import { openApiDocument } from "../../src/api/openapi/openapi-document.js";
import { RANKING_SORTS } from "../../src/api/rankings.js";
import { operationsOf, resolved } from "../unit/api/document-validator.js";
import { callTool, sendMessage } from "./call-tool.js";
import { openEmulator, type RunningEmulator } from "./start-emulator.js";

type Json = Record<string, unknown>;

interface ListedTool {
  name: string;
  description: string;
  inputSchema: { properties: Record<string, Json>; required?: string[]; additionalProperties: boolean };
  outputSchema: object;
  annotations: Json;
}

let running: RunningEmulator;
let key: string;
let tools: Map<string, ListedTool>;
beforeAll(async () => {
  running = await openEmulator();
  ({ key } = await running.account("pro"));
  const { body } = await sendMessage(running.emulator, { id: 1, method: "tools/list" }, { key });
  const listed = (body["result"] as { tools: ListedTool[] }).tools;
  tools = new Map(listed.map((tool) => [tool.name, tool]));
});
afterAll(() => running.emulator.close());

/** The schema of a tool's arguments as OpenAPI has it. The random requests of test/properties hold that to the operation. */
function schemaInOpenApi(name: string): object {
  const document = openApiDocument();
  if (name === "start_promotion_investigation") {
    const { title: _title, ...schema } = resolved(document, { $ref: "#/components/schemas/StartInvestigationBody" });
    return schema;
  }
  const listed = operationsOf(document).get(MCP_TOOLS[name as keyof typeof MCP_TOOLS].operation)?.["parameters"];
  const properties = (listed as { name: string; description: string; schema: Json }[]).map((parameter) => {
    return [parameter.name, { description: parameter.description, ...parameter.schema }] as const;
  });
  return { type: "object", properties: Object.fromEntries(properties), additionalProperties: false };
}

test("each argument has its meaning, bounds and default, as the parameter of REST has in OpenAPI", () => {
  for (const [name, { inputSchema }] of tools) {
    for (const { description } of Object.values(inputSchema.properties)) expect(String(description)).toMatch(/.{10}\./);
    if (name !== "get_promotion_investigation") expect(inputSchema, name).toEqual(schemaInOpenApi(name));
  }
  for (const name of ["search_ai_demand", "rank_ai_products"] as const) {
    const given = Object.entries(tools.get(name)?.inputSchema.properties ?? {});
    const defaults = given
      .filter(([, schema]) => "default" in schema)
      .map(([each, schema]) => [each, schema["default"]]);
    expect(Object.fromEntries(defaults)).toEqual(MCP_TOOLS[name].input.parse({}));
  }
  expect(tools.get("get_promotion_investigation")?.inputSchema).toMatchObject({
    properties: { task_id: { type: "string", pattern: "^task_[0-9a-f-]{36}$" } },
    required: ["task_id"],
    additionalProperties: false,
  });
});

test("the texts tell a model when to read again, to ask before a start, and what Developer Access gets", () => {
  const said = (name: string, ...facts: string[]) => {
    for (const fact of facts) expect(tools.get(name)?.description, name).toContain(fact);
  };
  said("start_promotion_investigation", "confirm_usage", "idempotency_key", "get_promotion_investigation", "60 seconds", "50 calls a month"); // prettier-ignore
  said("get_promotion_investigation", "poll_after_seconds", "60 seconds", "no quota");
  said("search_ai_demand", "keyword_id", "10 rows", "50 calls a month");
  said("rank_ai_products", "10 rows", "50 calls a month");
});

test("only a start changes anything, and its retry changes nothing more", () => {
  const hints = (name: string) => tools.get(name)?.annotations;
  for (const name of tools.keys()) {
    const readOnlyHint = name !== "start_promotion_investigation";
    expect(hints(name)).toMatchObject({ readOnlyHint, idempotentHint: true, destructiveHint: false });
  }
});

test("the output schemas accept every payload: each sort, a detail, a task in each state, a report in both languages, an error", async () => {
  const ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true });
  addFormats.default(ajv);
  const validators = new Map<string, ValidateFunction>();
  for (const { name, outputSchema } of tools.values()) validators.set(name, ajv.compile(outputSchema));
  const call = async (name: string, given: object): Promise<Json> => {
    const { structuredContent } = (await callTool(running.emulator, key, name, given)).result;
    const validate = validators.get(name) as ValidateFunction;
    expect([validate(structuredContent), validate.errors], JSON.stringify(given)).toEqual([true, null]);
    // A field less is refused.
    for (const field of Object.keys(structuredContent ?? {})) {
      if (field !== "category") expect(validate({ ...structuredContent, [field]: undefined }), field).toBe(false);
    }
    return structuredContent as Json;
  };

  for (const name of tools.keys()) expect(await call(name, { view: 1 })).toHaveProperty("error.code");
  let ranked: Json = {};
  for (const sort of RANKING_SORTS) ranked = await call("rank_ai_products", { sort, limit: 50, min_traffic: 0 });
  const [{ slug, primary_category_slug: category }] = ranked["items"] as [Json];
  expect(await call("rank_ai_products", { category, country: "us" })).toMatchObject({ category: { slug: category } });
  const { keyword } = await call("search_ai_demand", { type: "all", limit: 50, keyword_id: 1, locale: "zh-CN" });
  expect(keyword).toMatchObject({ keyword_id: 1 });
  expect(await call("search_ai_demand", { q: "nothing has this name" })).toMatchObject({ items: [], keyword: null });

  const { control } = running.emulator;
  const start = (locale = "en") =>
    call("start_promotion_investigation", { slug, locale, idempotency_key: randomUUID(), confirm_usage: true });
  const read = async ({ task_id }: Json) => (await call("get_promotion_investigation", { task_id }))["status"];
  const failed = await start();
  await control.failInvestigation({ task_id: String(failed["task_id"]) });
  const cancelled = await start();
  await control.cancelInvestigation({ task_id: String(cancelled["task_id"]) });
  expect([await read(failed), await read(cancelled)]).toEqual(["failed", "cancelled"]);
  const pending = [await start(), await start("zh-CN")];
  for (const [minutes, status] of [[0, "queued"], [1, "running"], [9, "succeeded"]] as const) {
    await control.advance({ minutes });
    for (const task of pending) expect(await read(task)).toBe(status);
  } // prettier-ignore
});
