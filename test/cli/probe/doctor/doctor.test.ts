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
import { freePort } from "../../../own-postgres.js";
import { makeReceiver, startReceiver } from "../../../http/serve.js";
import { examine } from "./examine.js";
import { SECRET } from "../../run-cli.js";
import { listen, serveProxy, serveReceiver, serveRecorder } from "../../serve-requests.js";

const PATH = "/webhooks/signals";
const LF = Buffer.from("\n");
/** The warnings for every receiver that listens on this machine by http. */
const LOCAL: string[] = ["url_not_https", "address_local"];

const withSecret = (): Promise<Receiver> => startReceiver({ secrets: SECRET });

/** The ids of the problems. */
const problemsOf = async (...args: Parameters<typeof examine>): Promise<string[]> =>
  (await examine(...args)).problems;

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

const rewrite = (body: Buffer): Buffer => Buffer.from(JSON.stringify(JSON.parse(body.toString())));

// The tests of `verify` have the other changes.
const CHANGES: readonly (readonly [
  what: string,
  change: (body: Buffer) => Buffer,
  found: string,
])[] = [
  [
    "parses JSON and writes it again",
    rewrite,
    "arrive as compact JSON: indented JSON, JSON with escaped text, unusual numbers, JSON with CRLF line ends",
  ],
  [
    "decodes",
    (body) => Buffer.from(new TextDecoder().decode(body)),
    "these bodies arrive without the byte order mark at the start: JSON with a byte order mark",
  ],
  [
    "swaps characters",
    (body) => Buffer.from(body.toString().replace("测试", "试测")),
    "these bodies arrive changed in an unknown way: non-ASCII text",
  ],
];

test.each(CHANGES)("a proxy is seen through that %s", async (_what, change, found) => {
  const { receiver, url } = await serveReceiver();
  const examined = await examine(await serveProxy(url, ({ body }) => ({ body: change(body) })));
  expect(examined.problems).toEqual(["body_changed"]);
  expect(examined.find("body_changed")?.found).toContain(found);
  expect(examined.skipped).toContain("large-body");
  const { accepted, quarantined } = receiver.health().deliveries;
  expect([accepted, quarantined]).toEqual([0, 0]);
});

const UNREACHABLE: readonly (readonly [
  what: string,
  id: string,
  address: () => string | Promise<string>,
])[] = [
  [
    "a server that is down",
    "connection_refused",
    async () => `http://127.0.0.1:${await freePort()}${PATH}`,
  ],
  [
    "https where no TLS is spoken",
    "tls_failed",
    async () => (await serveReceiver()).url.replace("http:", "https:"),
  ],
  ["TLS without a certificate", "tls_failed", serveBareTls],
  [
    "a server that hangs up",
    "connection_broken",
    () => listen((request) => request.socket.destroy()),
  ],
];

test.each(UNREACHABLE)(
  "no connection, and nothing that needs one is examined: %s",
  async (_what, id, address) => {
    const examined = await examine(await address());
    expect(examined.problems).toEqual([id]);
    expect(examined.skipped).toEqual(expect.arrayContaining(["answer", "clock", "secret", "body"]));
  },
);

async function serveBareTls(): Promise<string> {
  const bare = createServer(() => undefined).listen(0, "127.0.0.1");
  await new Promise((resolve) => bare.once("listening", resolve));
  onTestFinished(() => void bare.close());
  return `https://127.0.0.1:${(bare.address() as AddressInfo).port}/`;
}

test("a name that does not exist, and a server that never answers", async () => {
  const error = Object.assign(new Error("no"), { code: "ENOTFOUND" });
  const examined = await examine(
    `https://nobody.example${PATH}`,
    {},
    { resolve: () => Promise.reject(error) },
  );
  expect(examined.problems).toEqual(["name_not_found"]);
  expect(examined.skipped).toContain("connection");
  expect(await problemsOf(await listen(() => undefined), { timeoutMs: 50 })).toEqual(["no_answer"]);
});

const coded = (code: string): string =>
  JSON.stringify({ error: { code, message: "…" }, request_id: "req_1" });

test.each<
  [id: string, status: number, headers: Record<string, string>, found: string, body?: string]
>([
  ["path_takes_no_post", 405, { Allow: "GET" }, "405"],
  ["path_not_found", 404, {}, "404"],
  [
    "redirected",
    301,
    { Location: "https://user:pw@example.com/there?token=1" },
    "to https://example.com/there",
  ],
  ["login_required", 401, { "WWW-Authenticate": "Basic" }, "401"],
  ["challenge_missing", 200, {}, "200"],
  ["gateway_failed", 502, {}, "502"],
  ["answer_unexpected", 500, {}, "500"],
  ["receiver_busy", 503, {}, "overloaded or closing", coded("overloaded")],
  ["body_cut", 408, {}, "in time", coded("body_timeout")],
  ["answer_unexpected", 400, {}, "400", coded("constructor")],
])(
  "what answers is no receiver, or none that takes anything now: %s, %d",
  async (id, status, headers, found, body) => {
    const examined = await examine(await answering(status, headers, body));
    expect(examined.problems).toEqual([id]);
    expect(examined.find(id)?.found).toContain(found);
    expect(examined.find(id)?.found).not.toMatch(/pw|token/);
    expect(examined.skipped).toEqual(expect.arrayContaining(["forgery", "secret", "body"]));
  },
);

const EMBEDDED = 'a"b';

const SECRETS: readonly (readonly [id: string, given: string, has: string, side: string])[] = [
  ["secret_unknown", SECRET, "another", "none of the given secrets"],
  ["secret_has_blanks", SECRET, `${SECRET} `, "the receiver's"],
  ["secret_has_blanks", `${SECRET} `, SECRET, "given here"],
  ["secret_is_list", `${EMBEDDED},${SECRET}`, SECRET, "given here"],
  ["secret_lacks_prefix", SECRET, SECRET.slice("whsec_".length), "the receiver's"],
];

test.each(SECRETS)("a secret that is not the receiver's: %s, %j", async (id, given, has, side) => {
  const { receiver, url } = await serveReceiver({ secrets: has });
  const examined = await examine(url, { secrets: [given] });
  expect(examined.problems).toEqual([id]);
  expect(examined.find(id)?.found).toContain(side);
  expect(examined.find("bytes_kept") !== undefined).toBe(id !== "secret_unknown");
  expect(JSON.stringify(examined.findings)).not.toContain(SECRET.slice("whsec_".length));
  const { accepted, quarantined } = receiver.health().deliveries;
  expect([accepted, quarantined]).toEqual([0, 0]);
});

test("where every request gets a bare 401, the secret is not the only suspect", async () => {
  const examined = await examine(await answering(401));
  expect(examined.problems).toEqual(["secret_unknown"]);
  expect(examined.find("secret_unknown")?.fix).toContain("gateway");
  const { url: ours } = await serveReceiver({ secrets: "another" });
  expect((await examine(ours)).find("secret_unknown")?.fix).not.toContain("gateway");
});

test("a wrong secret and a changed body at once are both named", async () => {
  const { url } = await serveReceiver({ secrets: `${SECRET} ` });
  const indented = ({ body }: { body: Buffer }): { body: Buffer } => {
    return {
      body:
        body.length === 0
          ? body
          : Buffer.from(JSON.stringify(JSON.parse(body.toString()), null, 4)),
    };
  };
  const examined = await examine(await serveProxy(url, indented));
  expect(examined.problems).toEqual(["secret_has_blanks", "body_changed"]);
});

test("one of several secrets that the receiver does not know", async () => {
  const { url } = await serveReceiver({ secrets: ["first", SECRET] });
  const examined = await examine(url, { secrets: ["first", "second", SECRET] });
  expect(examined.problems).toEqual([]);
  expect(examined.find("secret_partly_known")?.found).toContain("does not know number 2");
  expect((await examine(url, { secrets: ["first", SECRET] })).warnings).toEqual(LOCAL);
});

test("a parser that comes first: one that keeps no bytes, and one with a small limit", async () => {
  const bare = express()
    .use(express.json())
    .use(expressHandler(await withSecret()));
  expect(await problemsOf(await listen(bare))).toEqual(["body_parsed_first"]);
  const small = express().use(
    express.json({ verify: captureRawBody }),
    expressHandler(await withSecret()),
  );
  const examined = await examine(await listen(small));
  expect([examined.problems, examined.warnings]).toEqual([[], [...LOCAL, "large_body_refused"]]);
});

test("a proxy that cuts large bodies", async () => {
  const { url } = await serveReceiver();
  const examined = await examine(
    await serveProxy(url, ({ body }) => ({ body: body.subarray(0, 1024) })),
  );
  expect([examined.problems, examined.warnings]).toEqual([["body_cut"], LOCAL]);
  expect(examined.find("body_cut")?.found).toContain("401 signature_mismatch");
});

const PROXIES: readonly (readonly [id: string, change: Parameters<typeof serveProxy>[1]])[] = [
  [
    "body_compressed",
    ({ headers, body }) => ({
      headers: { ...headers, "content-encoding": "gzip" },
      body: gzipSync(body),
    }),
  ],
  [
    "signature_lost",
    ({ headers: { "x-service-signature": _dropped, ...headers } }) => ({ headers }),
  ],
  [
    "signature_changed",
    ({ headers }) => {
      const signature = String(headers["x-service-signature"]);
      return { headers: { ...headers, "x-service-signature": `${signature}, ${signature}` } };
    },
  ],
];

test.each(PROXIES)("a proxy that changes what a receiver needs: %s", async (id, change) => {
  const { url } = await serveReceiver();
  expect(await problemsOf(await serveProxy(url, change))).toEqual([id]);
});

test.each([400_000, -400_000])(
  "a clock of its own that is %d ms off is not said to be right for its Date header",
  async (offMs) => {
    const clock = { ...systemClock, now: () => systemClock.now() + offMs };
    expect(await problemsOf((await serveReceiver({ clock })).url)).toEqual(["clock_skewed"]);
  },
);

test("a receiver with a small tolerance is not said to have a wrong clock", async () => {
  const { url } = await serveReceiver({ toleranceSeconds: 60 });
  const examined = await examine(url);
  expect([examined.problems, examined.warnings]).toEqual([[], LOCAL]);
});

test("the Date header shows a wrong clock where the secret is another", async () => {
  const { url } = await serveReceiver({ secrets: "another" });
  const examined = await examine(url, {}, { now: () => Date.now() - 600_000 });
  expect(examined.problems).toEqual(["clock_skewed", "secret_unknown"]);
  expect(examined.find("clock_skewed")?.found).toContain("10 min ahead of");
});

test("a clock that is a minute off is a warning, and so is a Date header that the receiver does not go by", async () => {
  const { url } = await serveReceiver();
  const ahead = (ms: number) => examine(url, {}, { now: () => Date.now() - ms });
  const minute = await ahead(60_000);
  expect([minute.problems, minute.warnings]).toEqual([[], [...LOCAL, "clock_skewed"]]);
  const handle = nodeHandler(await withSecret());
  const lying = await listen((request, response) => {
    response.setHeader("Date", "Sat, 01 Jan 2000 00:00:00 GMT");
    handle(request, response);
  });
  const examined = await examine(lying);
  expect([examined.problems, examined.warnings]).toEqual([[], [...LOCAL, "clock_skewed"]]);
});

test("a receiver that tolerates what is too old, and one that verifies nothing", async () => {
  const { url } = await serveReceiver({ toleranceSeconds: 3600 });
  const tolerant = await examine(url);
  expect([tolerant.problems, tolerant.warnings]).toEqual([["stale_accepted"], LOCAL]);
  const trusting = await serveRecorder(({ body }, response) => {
    const event = JSON.parse(body.toString()) as { data: { challenge: string } };
    response.end(JSON.stringify({ challenge: event.data.challenge }));
  });
  expect(await problemsOf(trusting.url)).toEqual(["forgery_accepted"]);
});

test("a parser that refuses a byte order mark", async () => {
  const healthy = await serveReceiver();
  const choosy = await serveProxy(healthy.url, ({ body }) => {
    if (body[0] === 0xef) throw new Error("no JSON");
    return {};
  });
  const examined = await examine(choosy);
  expect([examined.problems, examined.warnings]).toEqual([[], [...LOCAL, "body_refused"]]);
});

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

test("where the bytes are changed, nothing is said of what was refused for them and not for its age", async () => {
  const { url } = await serveReceiver({ toleranceSeconds: 3600 });
  const rewritten = await examine(
    await serveProxy(url, ({ body }) => ({ body: Buffer.concat([body, LF]) })),
  );
  expect(rewritten.problems).toEqual(["body_changed"]);
  expect(rewritten.find("stale_refused")).toBeUndefined();
});

test("a receiver that decodes its secret", async () => {
  const key = Buffer.from("a key of some length");
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
  expect(await problemsOf(url, { secrets: [`whsec_${key.toString("base64")}`] })).toEqual([
    "secret_decoded",
  ]);
});

test("an interrupted look ends", async () => {
  const interruption = new AbortController();
  const url = await listen(() => interruption.abort());
  await expect(examine(url, { signal: interruption.signal })).rejects.toMatchObject({
    name: "AbortError",
  });
});

test("a receiver that was not started, and one whose secrets are not to be had", async () => {
  const idle = makeReceiver({ secrets: SECRET });
  expect((await examine(await listen(nodeHandler(idle)))).problems).toEqual(["store_unavailable"]);
  const { url } = await serveReceiver({
    secrets: () => Promise.reject(new Error("vault is sealed")),
  });
  expect((await examine(url)).problems).toEqual(["secret_unavailable"]);
  // It says so after a while: a delivery waits for the file.
  const waiting = await serveReceiver({ secrets: secretFile("/no/such/file"), secretWaitMs: 1100 });
  const examined = await examine(waiting.url);
  expect([examined.problems, examined.warnings]).toEqual([["secret_unavailable"], LOCAL]);
});

test("with --test-event one event is stored, and a store that fails is named", async () => {
  const { receiver, url } = await serveReceiver();
  const examined = await examine(url, { sendsTestEvent: true });
  expect([examined.problems, examined.find("event_stored")?.level]).toEqual([[], "ok"]);
  expect(receiver.health().deliveries.accepted).toBe(1);
  const store = { ...memoryStore(), commit: () => Promise.reject(new Error("disk full")) };
  const failing = await serveReceiver({ store });
  expect((await examine(failing.url, { sendsTestEvent: true })).problems).toEqual([
    "event_not_stored",
  ]);
});
