import { createHmac } from "node:crypto";
import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import express from "express";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../../../src/base/time/clock.js";
import { captureRawBody, secretFile, type Receiver } from "../../../../src/kit/index.js";
import { expressHandler } from "../../../../src/kit/receiver/adapters/express-handler.js";
import { nodeHandler } from "../../../../src/kit/receiver/adapters/node-handler.js";
import { memoryStore } from "../../../../src/kit/stores/memory.js";
import { makeReceiver, startReceiver } from "../../../http/serve.js";
import { freePort } from "../../../own-postgres.js";
import { expectGolden } from "../../golden.js";
import { SECRET } from "../../run-cli.js";
import { listen, serveProxy, serveReceiver, serveRecorder } from "../../serve-requests.js";
import { examine } from "./examine.js";

const PATH = "/webhooks/signals";
const LF = Buffer.from("\n");
/** The warnings for every receiver that listens on this machine by http. */
const LOCAL: string[] = ["url_not_https", "address_local"];

const withSecret = (): Promise<Receiver> => startReceiver({ secrets: SECRET });

/** Answers every request, once it has been read, with this status. */
const answering = (
  status: number,
  headers: Record<string, string> = {},
  body = "{}",
): Promise<string> =>
  listen(
    (request, response) =>
      void request.resume().on("end", () => response.writeHead(status, headers).end(body)),
  );

const HEALTHY: readonly (readonly [
  what: string,
  mount: (receiver: Receiver) => Parameters<typeof listen>[0],
])[] = [
  ["on node:http", nodeHandler],
  ["on Express 5", (receiver) => express().use(PATH, expressHandler(receiver)).use(express.json())],
  [
    "behind a parser that keeps the bytes",
    (receiver) =>
      express().use(
        express.json({ verify: captureRawBody, limit: "256kb" }),
        expressHandler(receiver),
      ),
  ],
];

test.each(HEALTHY)(
  "a healthy receiver has no problem, and nothing is left in it: %s",
  async (_what, mount) => {
    const receiver = await withSecret();
    const examined = await examine(await listen(mount(receiver)));
    expect(examined.problems).toEqual([]);
    expect(examined.warnings).toEqual(LOCAL);
    const fine = examined.findings.filter(({ level }) => level === "ok").map(({ id }) => id);
    expect(fine).toEqual([
      ...(["connected", "receiver_answers", "clock"] as const),
      ...(["forgery_refused", "secret", "stale_refused", "bytes_kept", "large_body"] as const),
    ]);
    expect(examined.skipped).toEqual([
      "inbox-file",
      "inbox-owner",
      "inbox-content",
      "inbox-state",
      "test-event",
    ]);
    const { accepted, duplicate, quarantined } = receiver.health().deliveries;
    expect([accepted, duplicate, quarantined]).toEqual([0, 0, 0]);
  },
);

const rewrite = (body: Buffer): Buffer =>
  body.length === 0 ? body : Buffer.from(JSON.stringify(JSON.parse(body.toString()), null, 4));

const coded = (code: string): string =>
  JSON.stringify({ error: { code, message: "…" }, request_id: "req_1" });

type Options = Parameters<typeof serveReceiver>[0];

/** The receivers of the cases. None of them may store anything. */
const receivers: Receiver[] = [];

async function having(options: Options): Promise<string> {
  const { receiver, url } = await serveReceiver(options);
  receivers.push(receiver);
  return url;
}

/** A receiver behind a proxy that makes this of each body. */
const changing = async (change: (body: Buffer) => Buffer, options: Options = {}): Promise<string> =>
  serveProxy(await having(options), ({ body }) => ({ body: change(body) }));

/** A receiver before which a proxy changes each request so. */
const behind = async (change: Parameters<typeof serveProxy>[1]): Promise<string> =>
  serveProxy(await having({}), change);

const ahead = (ms: number) => ({ now: () => Date.now() - ms });
const clockOff = (ms: number) => ({ clock: { ...systemClock, now: () => Date.now() + ms } });
const KEY = Buffer.from("a key of some length");

type Case = readonly [
  title: string,
  address: () => string | Promise<string>,
  input?: Parameters<typeof examine>[1],
  surroundings?: Parameters<typeof examine>[2],
];

const SICK: readonly Case[] = [
  ["a server that is down", async () => `http://127.0.0.1:${await freePort()}${PATH}`],
  ["https where no TLS is spoken", async () => (await having({})).replace("http:", "https:")],
  ["TLS without a certificate", serveBareTls],
  ["a server that hangs up", () => listen((request) => request.socket.destroy())],
  ["a server that never answers", () => listen(() => undefined), { timeoutMs: 50 }],
  [
    "a name that does not exist",
    () => `https://nobody.example${PATH}`,
    {},
    { resolve: () => Promise.reject(Object.assign(new Error("no"), { code: "ENOTFOUND" })) },
  ],
  ["405", () => answering(405, { Allow: "GET" })],
  ["404", () => answering(404)],
  ["a redirect", () => answering(301, { Location: "https://user:pw@example.com/there?token=1" })],
  ["a login", () => answering(401, { "WWW-Authenticate": "Basic" })],
  ["a bare 401", () => answering(401)],
  ["200 without the challenge", () => answering(200)],
  ["502", () => answering(502)],
  ["500", () => answering(500)],
  ["503 overloaded", () => answering(503, {}, coded("overloaded"))],
  ["408", () => answering(408, {}, coded("body_timeout"))],
  ["a code that every object has", () => answering(400, {}, coded("constructor"))],
  ["another secret", () => having({ secrets: "another" })],
  ["a blank after the receiver's secret", () => having({ secrets: `${SECRET} ` })],
  ["a blank after the given secret", () => having({}), { secrets: [`${SECRET} `] }],
  ["a list given as a secret", () => having({}), { secrets: [`a"b,${SECRET}`] }],
  ["a receiver without the prefix", () => having({ secrets: SECRET.slice("whsec_".length) })],
  [
    "a receiver that decodes its secret",
    () => verifying(KEY),
    { secrets: [`whsec_${KEY.toString("base64")}`] },
  ],
  [
    "one of several secrets",
    () => having({ secrets: ["first", SECRET] }),
    { secrets: ["first", "second", SECRET] },
  ],
  ["a wrong secret and a changed body", () => changing(rewrite, { secrets: `${SECRET} ` })],
  [
    "a proxy that parses and writes again",
    () => changing((body) => Buffer.from(JSON.stringify(JSON.parse(body.toString())))),
  ],
  ["a proxy that decodes", () => changing((body) => Buffer.from(new TextDecoder().decode(body)))],
  [
    "a proxy that swaps characters",
    () => changing((body) => Buffer.from(body.toString().replace("测试", "试测"))),
  ],
  // Nothing is said of what was refused for the changed bytes, and not for its age.
  [
    "a proxy that adds a line end, a wide tolerance",
    () => changing((body) => Buffer.concat([body, LF]), { toleranceSeconds: 3600 }),
  ],
  ["a proxy that cuts", () => changing((body) => body.subarray(0, 1024))],
  [
    "a parser that refuses a byte order mark",
    () =>
      behind(({ body }) => {
        if (body[0] === 0xef) throw new Error("no JSON");
        return {};
      }),
  ],
  [
    "a parser that keeps no bytes",
    async () => listen(express().use(express.json(), expressHandler(await withSecret()))),
  ],
  [
    "a parser with a small limit",
    async () =>
      listen(
        express().use(express.json({ verify: captureRawBody }), expressHandler(await withSecret())),
      ),
  ],
  [
    "a proxy that compresses",
    () =>
      behind(({ headers, body }) => ({
        headers: { ...headers, "content-encoding": "gzip" },
        body: gzipSync(body),
      })),
  ],
  [
    "a proxy that drops the signature",
    () => behind(({ headers: { "x-service-signature": _dropped, ...headers } }) => ({ headers })),
  ],
  [
    "a proxy that doubles the signature",
    () =>
      behind(({ headers }) => {
        const signature = String(headers["x-service-signature"]);
        return { headers: { ...headers, "x-service-signature": `${signature}, ${signature}` } };
      }),
  ],
  ["a clock of its own ahead", () => having(clockOff(400_000))],
  ["a clock of its own behind", () => having(clockOff(-400_000))],
  ["a small tolerance", () => having({ toleranceSeconds: 60 })],
  ["another secret, ten minutes off", () => having({ secrets: "another" }), {}, ahead(600_000)],
  ["a minute off", () => having({}), {}, ahead(60_000)],
  ["a Date header of its own", lyingDate],
  ["a wide tolerance", () => having({ toleranceSeconds: 3600 })],
  ["a receiver that verifies nothing", trusting],
  ["a receiver that was not started", () => listen(nodeHandler(makeReceiver({ secrets: SECRET })))],
  [
    "a receiver whose secrets cannot be read",
    () => having({ secrets: () => Promise.reject(new Error("vault is sealed")) }),
  ],
  // It says so after a while: a delivery waits for the file.
  [
    "a receiver whose secret file is missing",
    () => having({ secrets: secretFile("/no/such/file"), secretWaitMs: 1100 }),
  ],
  [
    "a store that fails",
    () => having({ store: { ...memoryStore(), commit: () => Promise.reject(new Error("full")) } }),
    { sendsTestEvent: true },
  ],
];

async function lyingDate(): Promise<string> {
  const handle = nodeHandler(await withSecret());
  return listen((request, response) => {
    response.setHeader("Date", "Sat, 01 Jan 2000 00:00:00 GMT");
    handle(request, response);
  });
}

async function trusting(): Promise<string> {
  const { url } = await serveRecorder(({ body }, response) =>
    response.end(body.toString().replace(/.*"data":({[^}]*}).*/, "$1")),
  );
  return url;
}

/** A receiver that signalbox did not make, with this key. */
async function verifying(key: Buffer): Promise<string> {
  const { url } = await serveRecorder(({ headers, body }, response) => {
    const [, t, v1] = /^t=(\d+),v1=(.*)$/.exec(String(headers["x-service-signature"])) ?? [];
    const isRight = createHmac("sha256", key).update(`${t}.`).update(body).digest("hex") === v1;
    if (!isRight || Math.abs(Number(t) - Date.now() / 1000) > 300) {
      response.writeHead(401).end();
      return;
    }
    const { challenge } = (JSON.parse(body.toString()) as { data: { challenge: string } }).data;
    response.end(JSON.stringify({ challenge }));
  });
  return url;
}

test("what doctor finds at each sick receiver, and what it then skips", async () => {
  let text = "";
  for (const [title, address, input, surroundings] of SICK) {
    const { findings, skipped } = await examine(await address(), input, surroundings);
    const bad = findings.filter(({ level, id }) => level !== "ok" && !LOCAL.includes(id));
    const lines = bad.map(({ level, id, found, fix }) => `${level} ${id}: ${found}\n  → ${fix}`);
    const usual = /^(inbox-|test-event$)/;
    const others = skipped.filter((id) => !usual.test(id));
    text += [`\n# ${title}`, ...lines, `skipped: ${others.join(", ") || "-"}`, ""].join("\n");
  }
  expect(text).not.toContain(SECRET.slice("whsec_".length));
  expect(text).not.toMatch(/pw|token=/);
  for (const { accepted, quarantined } of receivers.map((each) => each.health().deliveries))
    expect([accepted, quarantined]).toEqual([0, 0]);
  await expectGolden("doctor-sick", text, [[/[\d,]+ d behind/, "N d behind"]]);
});

async function serveBareTls(): Promise<string> {
  const bare = createServer(() => undefined).listen(0, "127.0.0.1");
  await new Promise((resolve) => bare.once("listening", resolve));
  onTestFinished(() => void bare.close());
  return `https://127.0.0.1:${(bare.address() as AddressInfo).port}/`;
}

test.each([
  ["an error of its own", (response: ServerResponse) => void response.writeHead(500).end()],
  ["no answer", (response: ServerResponse) => void response.destroy()],
])("a forgery or a stale signature that gets %s was not refused", async (_what, fail) => {
  const receiver = nodeHandler(await withSecret());
  const url = await listen((request, response) => {
    const { writeHead } = response;
    response.writeHead = ((status: number, ...rest: [OutgoingHttpHeaders]) => {
      if (status !== 401) return writeHead.call(response, status, ...rest);
      response.writeHead = writeHead;
      fail(response);
      return { end: () => undefined };
    }) as typeof writeHead;
    receiver(request, response);
  });
  const examined = await examine(url);
  expect([examined.find("forgery_refused"), examined.find("stale_refused")]).toEqual([
    undefined,
    undefined,
  ]);
  expect(examined.warnings.filter((id) => id === "answer_unexpected")).toHaveLength(2);
});

test("an interrupted look ends", async () => {
  const interruption = new AbortController();
  const url = await listen(() => interruption.abort());
  await expect(examine(url, { signal: interruption.signal })).rejects.toMatchObject({
    name: "AbortError",
  });
});

test("with --test-event one event is stored", async () => {
  const { receiver, url } = await serveReceiver();
  const examined = await examine(url, { sendsTestEvent: true });
  expect([examined.problems, examined.find("event_stored")?.level]).toEqual([[], "ok"]);
  expect(receiver.health().deliveries.accepted).toBe(1);
});
