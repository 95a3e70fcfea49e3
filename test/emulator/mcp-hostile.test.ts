import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { EmulatorEvent } from "../../src/emulator/instance/events.js";
import { exchange, openWire, rawRequest, type Answer, type RawRequest } from "../http/wire.js";
import { openEmulator, startEmulator, type RunningEmulator } from "./start-emulator.js";

const failures: EmulatorEvent[] = [];
const onEvent = (event: EmulatorEvent): void => void (event.event === "failed" && failures.push(event));
let running: RunningEmulator;
let accountId: number;
beforeAll(async () => {
  running = await openEmulator({ onEvent });
  ({ accountId } = await running.account("developer"));
});
afterAll(async () => {
  // The emulator refused all of this, and failed at nothing.
  expect(failures).toEqual([]);
  await running.emulator.close();
});

/** Stands in a request wherever a value can. No answer may have it. */
const MARK = "hostile-mark";

interface Wish {
  method?: string;
  /** A list is sent as several headers; undefined leaves out a header that is sent otherwise. */
  headers?: Record<string, string | readonly string[] | undefined>;
  body: string | Uint8Array;
}

const portOf = ({ emulator }: RunningEmulator): number => Number(new URL(emulator.url).port);
const newKey = async (): Promise<string> => (await running.emulator.control.createKey({ account_id: accountId })).key;

function rawOf({ headers = {}, ...rest }: Wish, key: string): RawRequest {
  const usual = { Host: "127.0.0.1", Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
  const all = Object.entries<string | readonly string[] | undefined>({ ...usual, ...headers });
  const pairs = all.flatMap(([name, value = []]) => [value].flat().map((each) => [name, each] as const));
  return { ...rest, path: "/mcp", headers: pairs };
}

type Code = number | string | null;

/** The code of an error of JSON-RPC, of HTTP or of a tool; null for a result and for no body. */
function codeOf({ body }: Answer): Code {
  interface Failed {
    error?: { code: Code };
  }
  const { error, result } = JSON.parse(body || "{}") as Failed & { result?: { structuredContent?: Failed } };
  return (error ?? result?.structuredContent?.error)?.code ?? null;
}

type Row = readonly [wish: Wish, status: number, code: Code];

/** Each row is sent with a key of its own, because all of them are too many for the rate of one. */
async function expectAnswers(rows: readonly Row[]): Promise<void> {
  const odd: unknown[] = [];
  for (const [wish, status, code] of rows) {
    const key = await newKey();
    const answer = await exchange(portOf(running), rawOf(wish, key));
    const { headers, body } = answer;
    // The specification has the requested version in the data of its error.
    const told = body.replace(`"requested":"${MARK}"`, "");
    const faults = {
      isOther: answer.status !== status || codeOf(answer) !== code,
      isHtml: !headers["content-type"]?.startsWith("application/json") || /<(html|!)/.test(told),
      hasDump: /\bat \S+:\d|Error:|invalid_type/.test(told),
      hasValue: told.includes(MARK) || told.includes(key),
      tookUnit: ![401, 403, 405].includes(status) && headers["x-quota-remaining"] !== "50",
    };
    if (Object.values(faults).includes(true)) odd.push([wish.headers, String(wish.body).slice(0, 200), faults, answer]);
  }
  expect(odd).toEqual([]);
}

const message = (method: string, params?: object, more?: object): string =>
  JSON.stringify({ jsonrpc: "2.0", id: 1, method, ...(params !== undefined && { params }), ...more });
const legacy = (method: string, params?: object): Wish => ({ body: message(method, params) });

const CURRENT = "2026-07-28";
const VERSION = "io.modelcontextprotocol/protocolVersion";
const META = { [VERSION]: CURRENT, "io.modelcontextprotocol/clientCapabilities": {} };
const current = (method: string, params: { name?: unknown } = {}, headers: Wish["headers"] = {}): Wish => ({
  headers: {
    "MCP-Protocol-Version": CURRENT,
    "Mcp-Method": method,
    ...(typeof params.name === "string" && { "Mcp-Name": params.name }),
    ...headers,
  },
  body: message(method, { _meta: META, ...params }),
});

/** A row for each era of the protocol. */
const both = (method: string, params: object, status: number, code: Code, currentStatus = status): Row[] => [
  [legacy(method, params), status, code],
  [current(method, params), currentStatus, code],
];

const PING = message("ping");
const call = (given: unknown, name: unknown = "rank_ai_products"): object => ({ name, arguments: given });
/** Names that every object has. */
const INHERITED = ["__proto__", "constructor", "toString"];

test("what is not JSON gets -32700, what is no message -32600, and another type of content 415", async () => {
  const batch = (size: number): string => `[${Array.from({ length: size }, () => PING).join(",")}]`;
  const notJson = [`{"${MARK}":`, "", Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d), `\uFEFF${PING}`, gzipSync(PING)]; // prettier-ignore
  const noMessage = [batch(1), "[]", batch(1000), "null", '"ping"', message("ping", {}, { [MARK]: 1 })];
  const wrongIds = [null, {}, [MARK], 1.5, true].map((id) => message("ping", {}, { id }));
  await expectAnswers([
    ...notJson.map((body): Row => [{ body }, 400, -32_700]),
    ...[...noMessage, ...wrongIds].map((body): Row => [{ body }, 400, -32_600]),
    // The one version that had batches.
    [{ body: batch(2), headers: { "MCP-Protocol-Version": "2025-03-26" } }, 400, -32_600],
    ...[undefined, "text/plain"].map((type): Row => [{ body: PING, headers: { "Content-Type": type } }, 415, -32_000]),
  ]);
});

test("unknown methods, tools and arguments and wrong params are refused in both eras", async () => {
  await expectAnswers([
    ...[MARK, ...INHERITED].flatMap((name) => both(name, {}, 200, -32_601, 404)),
    ...both("subscriptions/listen", { notifications: { toolsListChanged: true } }, 200, -32_601, 404),
    [legacy("server/discover"), 200, -32_601],
    [current("initialize"), 404, -32_601],
    ...[MARK, ...INHERITED].flatMap((name) => both("tools/call", call({}, name), 200, -32_602)),
    ...INHERITED.flatMap((name) => both("tools/call", call({ [name]: MARK }), 200, "INVALID_PARAMETERS")),
    ...[null, [], MARK, 5].flatMap((given) => both("tools/call", call(given), 200, -32_602)),
    ...both("tools/call", { arguments: {} }, 200, -32_602),
    ...both("tools/list", { cursor: 5 }, 200, -32_602),
    [legacy("initialize", { capabilities: { experimental: { [MARK]: MARK } } }), 200, -32_602],
  ]);
  const { body } = await exchange(portOf(running), rawOf(legacy("initialize", { capabilities: {} }), await newKey()));
  expect(body).toContain("params.protocolVersion, params.clientInfo");
});

test("20,000 levels get -32600 wherever they are, in both eras", async () => {
  const deep = "[".repeat(20_000) + "]".repeat(20_000);
  const rows = [
    ...both(MARK, { x: "DEEP" }, 400, -32_600),
    ...both("tools/call", call({ limit: "DEEP" }), 400, -32_600),
    ...[{ id: "DEEP", method: "ping" }, { id: 1, result: { x: "DEEP" } }].map(
      (each): Row => [{ body: JSON.stringify({ jsonrpc: "2.0", ...each }) }, 400, -32_600],
    ),
  ]; // prettier-ignore
  await expectAnswers(rows.map(([wish, ...rest]) => [{ ...wish, body: String(wish.body).replace('"DEEP"', deep) }, ...rest])); // prettier-ignore
});

test("an unknown version, and headers that differ from the body, get the error of the specification", async () => {
  const listing = (version: unknown, header: string): Wish =>
    current("tools/list", { _meta: { ...META, [VERSION]: version } } as object, { "MCP-Protocol-Version": header });
  const mismatches: Wish["headers"][] = [
    { "MCP-Protocol-Version": "2025-11-25" },
    { "MCP-Protocol-Version": undefined },
    { "MCP-Protocol-Version": [CURRENT, CURRENT] },
    { "Mcp-Method": MARK },
    { "Mcp-Method": undefined },
    { "Mcp-Name": MARK },
    { "Mcp-Name": undefined },
    { "Mcp-Name": "\u00FF\t" },
    { "Mcp-Name": `=?base64?${MARK}?=` },
  ];
  await expectAnswers([
    [{ body: PING, headers: { "MCP-Protocol-Version": "1999-01-01" } }, 400, -32_000],
    [{ body: PING, headers: { "MCP-Protocol-Version": MARK } }, 400, -32_602],
    [listing(MARK, MARK), 400, -32_022],
    [listing(5, CURRENT), 400, -32_602],
    ...mismatches.map((headers): Row => [current("tools/call", call({}), headers), 400, -32_020]),
    [current("tools/call", call({}, MARK), { "Mcp-Name": undefined }), 400, -32_020],
    // The handshake answers with a version that the server speaks.
    [legacy("initialize", { protocolVersion: MARK, capabilities: {}, clientInfo: { name: MARK, version: "1" } }), 200, null],
  ]); // prettier-ignore
});

test("pages and names of other sites get 403, and this machine's names are served", async () => {
  const rows = (name: string, values: readonly (string | string[])[], isServed: boolean): Row[] =>
    values.map((value) => [
      { body: PING, headers: { [name]: value } },
      isServed ? 200 : 403,
      isServed ? null : "ACCESS_INSUFFICIENT",
    ]);
  await expectAnswers([
    ...rows("Host", [`${MARK}.example`, "localhost.example", "127.0.0.1.example", "localhost:x", "0.0.0.0", ""], false),
    ...rows("Host", ["localhost", "LOCALHOST:9", "localhost.", "127.0.0.1.", "127.1.2.3:80", "[::1]:4010"], true),
    ...rows("Origin", ["null", `http://${MARK}.example`, "http://localhost.example", "file://", ""], false),
    ...rows("Origin", [["http://localhost", "http://other.example"]], false),
    ...rows("Origin", ["http://127.0.0.1", "http://localhost:3000", "http://[::1]:80"], true),
  ]);
});

test("one key in one Authorization header; other methods than POST get 405 before that", async () => {
  const key = await newKey();
  const refused = [[`Bearer ${key}`, `Bearer ${key}`], `Basic ${btoa(`x:${key}`)}`, `Bearer ${MARK}`];
  await expectAnswers([
    [{ body: PING, headers: { Authorization: undefined } }, 401, "API_KEY_MISSING"],
    ...refused.map((Authorization): Row => [{ body: PING, headers: { Authorization } }, 401, "API_KEY_INVALID"]),
    [{ body: PING, headers: { Authorization: undefined, authorization: `bearer ${key}` } }, 200, null],
  ]);
  for (const method of ["GET", "DELETE", "PUT", "PATCH", "OPTIONS", "TRACE", "HEAD"]) {
    const answer = await exchange(portOf(running), rawOf({ method, body: PING, headers: { Authorization: undefined } }, key));
    expect([method, answer.status, answer.headers["allow"]]).toEqual([method, 405, "POST"]);
  } // prettier-ignore
});

test("10 MB are refused, declared or chunked, and count for the rate; a client that hangs up disturbs no other", async () => {
  const key = await newKey();
  const chunks = `10000\r\n${" ".repeat(0x10000)}\r\n`.repeat(160);
  const declared = rawRequest(rawOf({ body: " ".repeat(10 * 1024 * 1024) }, key));
  const head = { ...rawOf({ body: `${chunks}0\r\n\r\n`, headers: { "Transfer-Encoding": "chunked" } }, key) };
  for (const bytes of [declared, rawRequest({ ...head, length: false })]) {
    const wire = await openWire(portOf(running));
    void wire.write(bytes);
    const answer = await wire.next();
    expect([answer.status, codeOf(answer)]).toEqual([400, "INVALID_BODY"]);
  }
  const wire = await openWire(portOf(running));
  await wire.write(rawRequest(rawOf({ body: PING, headers: { "Content-Length": "500" } }, await newKey())));
  wire.destroy();
  for (let sent = 2; sent < 120; sent++) {
    expect((await exchange(portOf(running), rawOf({ body: "x".repeat(70_000) }, key))).status).toBe(400);
  }
  expect((await exchange(portOf(running), rawOf({ body: "x".repeat(70_000) }, key))).status).toBe(429);
});

test("a notification runs no tool, and has no answer", async () => {
  const rows = both("tools/call", call({}), 202, null);
  await expectAnswers([
    ...rows.map(([wish, ...rest]): Row => [{ ...wish, body: String(wish.body).replace('"id":1,', "") }, ...rest]),
    // A later request shows that no unit was taken after the answer either.
    [legacy("ping"), 200, null],
  ]);
});

test("100 calls at once with the same id get their own answers", async () => {
  const { key } = await running.account("pro");
  const limits = Array.from({ length: 100 }, (_, index) => 1 + (index % 50));
  const lengths = limits.map(async (limit) => {
    const { body } = await exchange(portOf(running), rawOf(legacy("tools/call", call({ limit })), key));
    return (JSON.parse(body) as { result: { structuredContent: { items: object[] } } }).result.structuredContent.items.length;
  }); // prettier-ignore
  expect(await Promise.all(lengths)).toEqual(limits);
});

test.each([
  ["reset", "DATA_UNAVAILABLE"],
  ["close", null],
] as const)("a call whose body arrives during a %s is answered", async (change, code) => {
  const own = await startEmulator({ onEvent });
  const { key } = await own.account("developer");
  const wish = current("tools/call", call({}), { Expect: "100-continue", Connection: "close" });
  const bytes = rawRequest(rawOf(wish, key));
  const bodyStart = bytes.indexOf("\r\n\r\n") + 4;
  const wire = await openWire(portOf(own));
  await wire.write(bytes.subarray(0, bodyStart));
  // From here on the emulator waits for the body.
  expect((await wire.next()).status).toBe(100);
  const isClosed = change === "close" ? own.emulator.close() : await own.emulator.control.reset();
  await wire.write(bytes.subarray(bodyStart));
  const answer = await wire.next();
  expect([answer.status, codeOf(answer)]).toEqual([200, code]);
  await isClosed;
});
