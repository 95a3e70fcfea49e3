import * as fc from "fast-check";
import { expect, test } from "vitest";
import { SIGNAL_TYPES } from "../../src/kit/index.js";
import type { Tier } from "../../src/service/contract/access.js";
import { openApiDocument } from "../../src/service/contract/openapi/openapi-document.js";
import { OPERATIONS } from "../../src/service/contract/operations.js";
import { callTool } from "../emulator/call-tool.js";
import { startEmulator } from "../emulator/start-emulator.js";
import {
  createDocumentValidator,
  operationsOf,
} from "../unit/service/contract/document-validator.js";
import { randomQuery, type DescribedParameter } from "./random-query.js";

const DOCUMENT = openApiDocument();
const { answerFaults, faultsOf, statusesOf } = createDocumentValidator(DOCUMENT);

/** What is sent to a path below the base address: a value as JSON, or a text as it is. */
interface SentCall {
  method?: "GET" | "POST";
  path: string;
  body?: unknown;
}

/**
 * An emulator whose time stands still, and whose every answer is held against the document that it
 * serves.
 */
async function serveEmulator(tier: Tier) {
  // Endpoints are on this machine, where nothing listens: no test sends anything elsewhere.
  const { emulator } = await startEmulator({ assumptions: { allowLoopbackHttp: true } });
  let used = 0;
  let key = "";

  /** A key, changed before its minute is full. */
  async function nextKey(): Promise<string> {
    if (used++ % 100 > 0) return key;
    const { account_id } = await emulator.control.createAccount({ tier });
    ({ key } = await emulator.control.createKey({ account_id }));
    return key;
  }

  /** Sends a call of an operation. @throws when the answer is not of the document */
  async function call(operationId: string, { method = "GET", path, body }: SentCall) {
    const response = await fetch(`${emulator.baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${await nextKey()}`, "content-type": "application/json" },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const { status } = response;
    const text = await response.text();
    const shown = `${method} ${path} ${JSON.stringify(body) ?? ""}: ${status} ${text.slice(0, 500)}`;
    if (!statusesOf(operationId).includes(status))
      throw new Error(`a status of no document: ${shown}`);
    const answer = JSON.parse(text) as { error?: { code: string } };
    const faults = answerFaults(operationId, status, answer);
    if (faults.length > 0) throw new Error(`${faults.slice(0, 5).join("; ")} in ${shown}`);
    return { status, body: answer as unknown, code: answer.error?.code };
  }

  return { emulator, call, nextKey };
}

type CheckedEmulator = Awaited<ReturnType<typeof serveEmulator>>;

/** The parameters of an operation, as the document tells them. */
function parametersOf(operationId: string): DescribedParameter[] {
  return operationsOf(DOCUMENT).get(operationId)?.["parameters"] as DescribedParameter[];
}

/** Parameters that name one thing, which may be missing. */
const NAMING = new Set(["category", "market", "keyword_id"]);

/** The same, with names of sectors and keywords that the emulator has. */
async function knowingParameters(
  { call }: CheckedEmulator,
  operationId: string,
): Promise<DescribedParameter[]> {
  const path = `${OPERATIONS.searchDemand.path}?limit=50`;
  const { body } = await call("searchDemand", { path });
  const { markets, items } = body as {
    markets: { slug: string }[];
    items: { keyword_id: number }[];
  };
  const sectors = markets.map(({ slug }) => slug);
  const known = new Map([
    ["market", sectors],
    ["category", sectors],
    ["keyword_id", ["0", ...items.map(({ keyword_id }) => String(keyword_id))]],
  ]);
  return parametersOf(operationId).map((parameter) => ({
    ...parameter,
    known: known.get(parameter.name) ?? [],
  }));
}

/** Slugs of products that the emulator has. */
async function rankedSlugs({ call }: CheckedEmulator): Promise<string[]> {
  const { body } = await call("rankings", { path: "/research/rankings?limit=50" });
  return (body as { items: { slug: string }[] }).items.map(({ slug }) => slug);
}

/**
 * The arguments of a tool that say the same as a query. A text that is no number of JSON stays a
 * text.
 */
function argumentsOf(
  parameters: readonly DescribedParameter[],
  pairs: readonly [string, string][],
): object {
  const types = new Map(parameters.map(({ name, schema }) => [name, schema.type]));
  const isNumber = (name: string, text: string): boolean =>
    (types.get(name) === "integer" && /^(0|-?[1-9]\d*)$/.test(text)) ||
    (types.get(name) === "number" && /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text));
  return Object.fromEntries(
    pairs.map(([name, text]) => [name, isNumber(name, text) ? Number(text) : text]),
  );
}

test.each([
  ["searchDemand", "search_ai_demand"],
  ["rankings", "rank_ai_products"],
] as const)(
  "%s answers any parameters by the document, and the tool %s as REST: good ones are looked up, others get 400 [error-statuses/400] [mcp-notes/results]",
  async (name, tool) => {
    const served = await serveEmulator("enterprise");
    const { emulator, call, nextKey } = served;
    const parameters = await knowingParameters(served, name);
    const counts = { found: 0, refused: 0, rows: 0 };
    await fc.assert(
      fc.asyncProperty(randomQuery(parameters), async ({ isGood, pairs }) => {
        const query = new URLSearchParams(pairs).toString();
        const rest = await call(name, { path: `${OPERATIONS[name].path}?${query}` });
        const { items = [], error } = rest.body as { items?: unknown[]; error?: { code: string } };
        if (!isGood) expect([rest.status, rest.code], query).toEqual([400, "INVALID_PARAMETERS"]);
        else if (rest.status !== 404) expect(rest.status, query).toBe(200);
        // What is not there can only be what was named.
        else expect(pairs.some(([each]) => NAMING.has(each))).toBe(true);

        // An argument has one value.
        if (new Set(pairs.map(([each]) => each)).size < pairs.length) return;
        const told = await callTool(
          emulator,
          await nextKey(),
          tool,
          argumentsOf(parameters, pairs),
        );
        if (rest.status === 200) {
          const text = JSON.stringify(rest.body);
          expect(told.result, query).toEqual({
            content: [{ type: "text", text }],
            structuredContent: rest.body,
          });
        } else expect([told.result.isError, told.error], query).toEqual([true, error]);
        counts.rows += items.length;
        if (rest.status === 200) counts.found += 1;
        if (rest.status === 400) counts.refused += 1;
      }),
      { numRuns: 200 },
    );
    // About half of the parameters are good, and most of these find something.
    expect(counts.refused).toBeGreaterThan(45);
    expect(counts.found).toBeGreaterThan(45);
    expect(counts.rows).toBeGreaterThan(150);
  },
);

const json: fc.Arbitrary<unknown> = fc.jsonValue({ maxDepth: 2 });

/** A body of operation 1, or something that is none. */
const investigationBody = (slugs: readonly string[]): fc.Arbitrary<unknown> =>
  fc.oneof(
    {
      // Of a hundred bodies some must be taken.
      weight: 5,
      arbitrary: fc.record({
        slug: fc.oneof(
          { weight: 4, arbitrary: fc.constantFrom(...slugs, "a", "0-") },
          fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,30}$/),
          json,
        ),
        locale: fc.option(fc.oneof(fc.constantFrom("en", "zh-CN"), json), { nil: "en" }),
        idempotency_key: fc.oneof(fc.uuid(), fc.constantFrom("x", null)),
        confirm_usage: fc.constantFrom(true, true, true, false, "true", null),
      }),
    },
    json,
    fc.constantFrom("", "{", "[]", '{"slug":', "null", '"text"', '{"__proto__":{}}'),
  );

// Addresses of this machine alone, so that nothing is ever sent elsewhere; port 1 takes nothing.
const registrationBody = (): fc.Arbitrary<unknown> =>
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        url: fc.oneof(
          fc.constantFrom(
            "https://127.0.0.1:1/hook",
            "https://localhost:1/",
            "http://127.0.0.1:1/",
            "x",
          ),
          json,
        ),
        signal_types: fc.oneof(
          { weight: 3, arbitrary: fc.subarray([...SIGNAL_TYPES], { minLength: 1, maxLength: 30 }) },
          fc.subarray([...SIGNAL_TYPES]),
          json,
        ),
        locale: fc.oneof({ weight: 3, arbitrary: fc.constantFrom("en", "zh-CN") }, json),
      }),
    },
    json,
    fc.constantFrom("", "{", "[]", "null"),
  );

test.each([
  ["startInvestigation", investigationBody, OPERATIONS.startInvestigation],
  ["registerWebhook", registrationBody, OPERATIONS.registerWebhook],
] as const)(
  "%s answers any body by the document: what is none gets 400",
  async (operationId, bodiesOf, { path }) => {
    const served = await serveEmulator("developer");
    const component =
      operationId === "startInvestigation" ? "StartInvestigationBody" : "RegisterWebhookBody";
    const isGood = (body: unknown): boolean =>
      typeof body !== "string" && faultsOf(component, body).length === 0;
    const bodies = bodiesOf(await rankedSlugs(served));
    let taken = 0;
    await fc.assert(
      fc.asyncProperty(bodies, async (body) => {
        const { status, code } = await served.call(operationId, { method: "POST", path, body });
        if (status < 300) taken += 1;
        if (!isGood(body))
          expect([status, code], JSON.stringify(body)).toEqual([400, "INVALID_BODY"]);
        // What else is wrong with an endpoint is in no schema: whether it is HTTPS, for example.
        else if (operationId === "startInvestigation") expect(code).not.toBe("INVALID_BODY");
      }),
      { numRuns: 100 },
    );
    expect(taken).toBeGreaterThan(0);
  },
);
