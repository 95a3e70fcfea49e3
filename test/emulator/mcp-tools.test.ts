import { randomUUID } from "node:crypto";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { afterAll, beforeAll, expect, test } from "vitest";
import { RANKING_SORTS } from "../../src/api/rankings.js";
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

const text = (maxLength: number): Json => ({ type: "string", maxLength });
const whole = (minimum: number, maximum: number): Json => ({ type: "integer", minimum, maximum });
const upTo = (maximum: number): Json => ({ type: "number", minimum: 0, maximum, default: 0 });
const page = (last: number): Json => ({ ...whole(1, last), default: 1 });
const limit = { ...whole(1, 50), default: 25 };
const freeLocale = { ...text(20), default: "en" };
const MAX = Number.MAX_SAFE_INTEGER;

/** The arguments by the tables of the document. */
const ARGUMENTS: Record<string, { required: string[]; properties: Record<string, Json> }> = {
  start_promotion_investigation: {
    required: ["slug", "idempotency_key", "confirm_usage"],
    properties: {
      slug: { ...text(200), minLength: 1, pattern: "^[a-z0-9][a-z0-9-]*$" },
      locale: { enum: ["en", "zh-CN"], default: "en" },
      idempotency_key: { type: "string", format: "uuid" },
      confirm_usage: { type: "boolean", const: true },
    },
  },
  get_promotion_investigation: {
    required: ["task_id"],
    properties: { task_id: { type: "string", pattern: "^task_[0-9a-f-]{36}$" } },
  },
  search_ai_demand: {
    required: [],
    properties: {
      locale: freeLocale,
      q: text(120),
      market: text(120),
      type: { enum: ["all", "non_brand", "brand"], default: "non_brand" },
      min_products: { enum: [1, 2, 3, 5], default: 1 },
      min_traffic: { ...whole(0, 10_000_000_000), default: 0 },
      min_volume: { ...whole(0, 10_000_000_000), default: 0 },
      sort: { enum: ["traffic", "volume", "products"], default: "traffic" },
      page: page(1000),
      limit,
      keyword_id: whole(0, MAX),
    },
  },
  rank_ai_products: {
    required: [],
    properties: {
      locale: freeLocale,
      category: text(120),
      country: { type: "string", pattern: "^[A-Za-z]{2}$" },
      q: text(80),
      sort: { enum: ["growth", "gain", "traffic", "dr_growth", "organic", "ai", "paid"], default: "growth" },
      order: { enum: ["asc", "desc"], default: "desc" },
      min_traffic: { ...whole(0, MAX), default: 1000 },
      min_growth: upTo(100),
      min_dr: upTo(100),
      min_dr_gain: upTo(100),
      max_domain_age_months: { ...whole(0, 120), default: 0 },
      page: page(200),
      limit,
    },
  },
};

test.each(Object.entries(ARGUMENTS))("each argument of %s has its bounds, default and description", (name, wanted) => {
  const { properties, required = [], additionalProperties } = tools.get(name)?.inputSchema ?? { properties: {} };
  expect([required, additionalProperties]).toEqual([wanted.required, false]);
  expect(Object.keys(properties)).toEqual(Object.keys(wanted.properties));
  for (const [argument, { description, examples: _examples, ...schema }] of Object.entries(properties)) {
    expect(String(description).length, argument).toBeGreaterThan(10);
    expect(schema, argument).toMatchObject(wanted.properties[argument] ?? {});
    // A default that the document does not have would show here.
    expect(schema["default"], argument).toBe(wanted.properties[argument]?.["default"]);
  }
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
  for (const name of Object.keys(ARGUMENTS)) {
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

  const start = (locale = "en") =>
    call("start_promotion_investigation", { slug, locale, idempotency_key: randomUUID(), confirm_usage: true });
  const { control } = running.emulator;
  const failed = await start();
  const cancelled = await start();
  await control.failInvestigation({ task_id: String(failed["task_id"]) });
  await control.cancelInvestigation({ task_id: String(cancelled["task_id"]) });
  const pending = [await start(), await start("zh-CN")];
  const look = async (task: Json): Promise<unknown[]> => {
    const { status, stage, error, report } = await call("get_promotion_investigation", { task_id: task["task_id"] });
    return [status, stage, error !== null, report !== null];
  };
  expect([await look(failed), await look(cancelled)]).toEqual([
    ["failed", "queued", true, false],
    ["cancelled", "queued", false, false],
  ]);
  for (const [seconds, ...seen] of [
    [0, "queued", "queued", false, false],
    [20, "running", "investigating", false, false],
    [240, "running", "generating_report", false, false],
    [80, "succeeded", "complete", false, true],
  ] as const) {
    await control.advance({ seconds });
    for (const task of pending) expect(await look(task)).toEqual(seen);
  }
});
