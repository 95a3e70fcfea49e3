import { createHmac } from "node:crypto";
import type { OutgoingHttpHeaders, RequestListener, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import express from "express";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../../../src/base/time/clock.js";
import { explainAnswer } from "../../../../src/cli/deliveries/explain-answer.js";
import { captureRawBody, secretFile, type Receiver } from "../../../../src/kit/index.js";
import { expressHandler } from "../../../../src/kit/receiver/adapters/express-handler.js";
import { nodeHandler } from "../../../../src/kit/receiver/adapters/node-handler.js";
import { memoryStore } from "../../../../src/kit/stores/memory.js";
import { makeReceiver } from "../../../http/serve.js";
import { freePort } from "../../../own-postgres.js";
import { callCli } from "../../call-cli.js";
import { expectGolden, transcriptOf } from "../../golden.js";
import { SECRET } from "../../run-cli.js";
import { listen, serveProxy, serveReceiver, serveRecorder } from "../../serve-requests.js";
import { tempFile } from "../../temp-files.js";
import { examine, paragraphOf, type Input } from "./examine.js";

const PATH = "/webhooks/signals";
const LF = Buffer.from("\n");

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

const rewrite = (body: Buffer): Buffer =>
  body.length === 0 ? body : Buffer.from(JSON.stringify(JSON.parse(body.toString()), null, 4));

const coded = (code: string): string =>
  JSON.stringify({ error: { code, message: "…" }, request_id: "req_1" });

type Options = Parameters<typeof serveReceiver>[0];

/** The receivers of the cases. None of them may store anything. */
const receivers: Receiver[] = [];

async function having(
  options: Options,
  mount: (receiver: Receiver) => RequestListener = nodeHandler,
): Promise<string> {
  const { receiver } = await serveReceiver(options);
  receivers.push(receiver);
  return listen(mount(receiver));
}

/** On Express, behind and before other middleware. */
const mounted = (
  middleware: (receiver: Receiver) => (express.RequestHandler | ReturnType<typeof express.json>)[],
): Promise<string> =>
  having({}, (receiver) =>
    middleware(receiver).reduce<express.Express>((app, each) => app.use(each), express()),
  );

/** A receiver behind a proxy that makes this of each body. */
const changing = async (change: (body: Buffer) => Buffer, options: Options = {}): Promise<string> =>
  serveProxy(await having(options), ({ body }) => ({ body: change(body) }));

/** A receiver before which a proxy changes each request so. */
const behind = async (change: Parameters<typeof serveProxy>[1]): Promise<string> =>
  serveProxy(await having({}), change);

const resolvedTo = (addresses: Promise<string[]>): Input => {
  addresses.catch(() => undefined);
  return { surroundings: { resolve: () => addresses } };
};
const PUBLIC = resolvedTo(Promise.resolve(["93.184.216.34"]));
const atZero = (url: string): string => url.replace("127.0.0.1", "0.0.0.0");
const ahead = (ms: number): Input => ({ surroundings: { now: () => Date.now() - ms } });
const clockOff = (ms: number) => ({ clock: { ...systemClock, now: () => Date.now() + ms } });
const KEY = Buffer.from("a key of some length");

type Case = readonly [title: string, address: () => string | Promise<string>, input?: Input];

/** Its Date header is wrong. */
const lyingDate = (): Promise<string> =>
  having({}, (receiver) => (request, response) => {
    response.setHeader("Date", "Sat, 01 Jan 2000 00:00:00 GMT");
    nodeHandler(receiver)(request, response);
  });

/** A receiver before which something makes another answer of each 401. */
const refusingBy = (fail: (response: ServerResponse) => void): Promise<string> =>
  having({}, (receiver) => (request, response) => {
    const { writeHead } = response;
    response.writeHead = ((status: number, ...rest: [OutgoingHttpHeaders]) => {
      if (status !== 401) return writeHead.call(response, status, ...rest);
      response.writeHead = writeHead;
      fail(response);
      return { end: () => undefined };
    }) as typeof writeHead;
    nodeHandler(receiver)(request, response);
  });

const CASES: readonly Case[] = [
  ["well, on node:http", () => having({})],
  ["well, on Express 5", () => mounted((receiver) => [expressHandler(receiver), express.json()])],
  [
    "well, behind a parser that keeps the bytes",
    () =>
      mounted((receiver) => [
        express.json({ verify: captureRawBody, limit: "256kb" }),
        expressHandler(receiver),
      ]),
  ],
  ["a server that is down", async () => `http://127.0.0.1:${await freePort()}${PATH}`],
  ["https where no TLS is spoken", async () => (await having({})).replace("http:", "https:")],
  ["TLS without a certificate", serveBareTls],
  ["a server that hangs up", () => listen((request) => request.socket.destroy())],
  ["a server that never answers", () => listen(() => undefined), { timeoutMs: 50 }],
  [
    "a name that does not exist",
    () => `https://nobody.example${PATH}`,
    resolvedTo(Promise.reject(Object.assign(new Error("no"), { code: "ENOTFOUND" }))),
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
    () => mounted((receiver) => [express.json(), expressHandler(receiver)]),
  ],
  [
    "a parser with a small limit",
    () =>
      mounted((receiver) => [express.json({ verify: captureRawBody }), expressHandler(receiver)]),
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
  ["another secret, ten minutes off", () => having({ secrets: "another" }), ahead(600_000)],
  ["a minute off", () => having({}), ahead(60_000)],
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
  ["a 401 that becomes a 500", () => refusingBy((response) => response.writeHead(500).end())],
  ["a 401 that never arrives", () => refusingBy((response) => response.destroy())],
  // By this address a server on this machine is reached, and its name does not say so.
  ["http in public", () => having({}).then(atZero), PUBLIC],
  ["https in public", async () => atZero(await having({})).replace("http:", "https:"), PUBLIC],
  ["a long address", async () => `${await having({})}?${"x".repeat(2048)}`, PUBLIC],
  ["a password", async () => `${(await having({})).replace("//", "//user:pw@")}#part`, PUBLIC],
  [
    "an address that the service cannot reach",
    () => having({}),
    resolvedTo(Promise.resolve(["93.184.216.34", "10.1.2.3"])),
  ],
];

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

async function serveBareTls(): Promise<string> {
  const bare = createServer(() => undefined).listen(0, "127.0.0.1");
  await new Promise((resolve) => bare.once("listening", resolve));
  onTestFinished(() => void bare.close());
  return `https://127.0.0.1:${(bare.address() as AddressInfo).port}/`;
}

test("what doctor finds at each receiver, and what it then skips", async () => {
  let text = "";
  for (const [title, address, input] of CASES) {
    const { findings, skipped } = await examine(await address(), input);
    // Of every receiver that listens on this machine by http.
    const usual = /^warning (url_not_https|address_local)$|^ok /;
    text += paragraphOf(title, {
      findings: findings.filter(({ level, id }) => !usual.test(`${level} ${id}`)),
      skipped: skipped.filter((id) => !/^(inbox-|test-event$)/.test(id)),
    });
  }
  for (const code of ["EHOSTUNREACH", "CERT_HAS_EXPIRED", "EMFILE"])
    text += `\n${JSON.stringify(explainAnswer({ kind: "unreachable", code }, 1000))}\n`;
  expect(text).not.toContain(SECRET.slice("whsec_".length));
  expect(text).not.toMatch(/pw|token=/);
  for (const { accepted, quarantined } of receivers.map((each) => each.health().deliveries))
    expect([accepted, quarantined]).toEqual([0, 0]);
  await expectGolden("doctor-sick", text, [[/[\d,]+ d behind/, "N d behind"]]);
});

test("an interrupted look ends", async () => {
  const interruption = new AbortController();
  const url = await listen(() => interruption.abort());
  await expect(examine(url, { signal: interruption.signal })).rejects.toMatchObject({
    name: "AbortError",
  });
});

test("what the command prints, and its exit code", async () => {
  const { receiver, url } = await serveReceiver();
  const { url: other } = await serveReceiver({ secrets: "another" });
  const down = `http://127.0.0.1:${await freePort()}/`;
  const letter = tempFile("a letter", "letter.db");
  const text = await transcriptOf([
    { title: "a healthy receiver", args: `doctor --url ${url}` },
    { title: "404", args: `doctor --url ${await answering(404)}` },
    { title: "another secret", args: `doctor --url ${other} --json` },
    { title: "unreachable", args: `doctor --url ${down}` },
    { title: "unreachable, and something else", args: `doctor --url ${down} --db ${letter}` },
    { title: "no answer", args: `doctor --url ${await listen(() => undefined)} --timeout 1` },
    { title: "a file alone", args: `doctor --db ${letter} --json`, env: { SIGNALS_SECRET: "" } },
  ]);
  expect(text).not.toContain(SECRET);
  await expectGolden("doctor", text);
  expect(receiver.health().deliveries.accepted).toBe(0);
  expect(await callCli(["doctor", "--url", url, "--test-event"])).toMatchObject({ exitCode: 0 });
  expect(receiver.health().deliveries.accepted).toBe(1);
});
