import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { beforeEach, expect, test } from "vitest";
import { readDocument } from "../repo/markdown.js";
import { install } from "./installed.js";
import { runModule, startOnAnyPort } from "./processes.js";

/** The one block of a page that holds this, as JavaScript. */
function block(page: string, holding: string): string {
  const found = readDocument(`docs/${page}.md`).block(holding);
  if (found.language !== "ts") return found.code;
  const compilerOptions = {
    module: ts.ModuleKind.ESNext,
    target: ts.ScriptTarget.ES2023,
    verbatimModuleSyntax: true,
  };
  return ts.transpileModule(found.code, { compilerOptions }).outputText;
}

let folder = "";
beforeEach(() => {
  folder = install({ express: "express" });
});

/** What a block may use without saying where it comes from, and what the tests ask it with. */
const SURROUNDINGS = `
  import { signalEvent, signedDelivery, testReceiver, waitForEvent } from "signalbox/testing";
  const signals = [];
  const { receiver, secret } = await testReceiver({ onSignal: (signal) => signals.push(signal.id) });
  const event = signalEvent();
  const signed = (event, signing) => ({ method: "POST", ...signedDelivery(event, { secret, ...signing }) });
  const told = [];
  const tell = async (answer) => told.push([answer.status, await answer.text()]);
`;

/** Runs a module to its end and gives what its `found` is then. */
async function run(code: string): Promise<unknown> {
  const print =
    'process.stdout.write("\\nFOUND " + JSON.stringify(found) + "\\n", () => process.exit());';
  const stdout = await runModule(folder, `${code}\n${print}`);
  // Before it and behind it may stand what the block's receiver logged.
  const [, found] = /^FOUND (.+)$/m.exec(stdout) ?? [];
  if (found === undefined)
    throw new Error(`the block did not come to its end, and printed ${JSON.stringify(stdout)}`);
  return JSON.parse(found);
}

/**
 * Adds the app of the block before, posts one signal and one forgery to it, and gives what both
 * were answered.
 */
const POST_BOTH = `
  const server = app.listen(0);
  const url = \`http://127.0.0.1:\${server.address().port}/webhooks/signals\`;
  await tell(await fetch(url, signed(event)));
  await tell(await fetch(url, signed(event, { secret: "whsec_other" })));
  await waitForEvent(receiver, event.id);
  const found = { told: told.map(([status, body]) => [status, JSON.parse(body).error?.code ?? body]), signals: signals.length };
`;

const RECEIVED = '{"received":true}';
const EXPRESS = `import express from "express"; import { expressHandler } from "signalbox/express";`;

test.each([
  ["the parser that keeps the bytes", "captureRawBody", ""],
  ["a raw parser of the route's own", "express.raw(", `${EXPRESS}\nconst app = express();`],
])(
  "in an app with express.json() first, %s lets a signal in and a forgery not",
  async (_, holding, before) => {
    const found = await run(
      `${SURROUNDINGS}\n${before}\n${block("add-to-an-app", holding)}\n${POST_BOTH}`,
    );
    expect(found).toEqual({
      told: [
        [200, RECEIVED],
        [401, "signature_mismatch"],
      ],
      signals: 1,
    });
  },
);

test("the route for readiness answers 200 while deliveries are taken and 503 when they are not", async () => {
  const code = block("running", "/ready");
  const found = await run(`${EXPRESS}\n${SURROUNDINGS}\nconst app = express();\n${code}
    const server = app.listen(0);
    const url = \`http://127.0.0.1:\${server.address().port}/ready\`;
    await tell(await fetch(url));
    await receiver.close();
    await tell(await fetch(url));
    const found = told.map(([status, body]) => [status, JSON.parse(body).state]);`);
  expect(found).toEqual([
    [200, "running"],
    [503, "closed"],
  ]);
});

test("on node:http the listener takes a signal", async () => {
  const file = join(folder, "block.mjs");
  const told = `process.on("message", async (url) => {
    await tell(await fetch(url, signed(event)));
    await waitForEvent(receiver, event.id);
    process.send({ told, signals: signals.length }, () => process.exit());
  });`;
  writeFileSync(
    file,
    `${SURROUNDINGS}\n${told}\n${block("add-to-an-app", "createServer(nodeHandler(")}`,
  );
  const child = startOnAnyPort(folder, "block.mjs");
  const [{ port }] = (await once(child, "message")) as [{ port: number }];
  child.send(`http://127.0.0.1:${port}/any/path`);
  const [found] = (await once(child, "message")) as [unknown];
  expect(found).toEqual({ told: [[200, RECEIVED]], signals: 1 });
});

/** A block of a page whose receiver is that of the surroundings. */
const withReceiver = (code: string): string => code.replace(/^import \{ receiver \} .*$/m, "");

test("the route of the pages router takes a signal", async () => {
  const route = withReceiver(block("frameworks", "bodyParser: false")).replace(
    "export default",
    "const route =",
  );
  const found = await run(`
    import { createServer } from "node:http";
    ${SURROUNDINGS}
    ${route}
    const server = createServer(route).listen(0);
    await tell(await fetch(\`http://127.0.0.1:\${server.address().port}/api/signals\`, signed(event)));
    const found = [config.api.bodyParser, ...told];`);
  expect(found).toEqual([false, [200, RECEIVED]]);
});

test("the handler of AWS Lambda takes a signal as text and as base64, and no forgery", async () => {
  const found = await run(`
    ${SURROUNDINGS}
    ${withReceiver(block("serverless", "isBase64Encoded"))}
    const found = [];
    for (const [secretOfCall, isBase64Encoded] of [[secret, false], [secret, true], ["whsec_other", true]]) {
      const { headers, body } = signed(signalEvent({ data: { title: "Zürich" } }), { secret: secretOfCall });
      const answer = await handler({
        rawPath: "/", rawQueryString: "", headers, requestContext: { http: { method: "POST" } },
        body: body.toString(isBase64Encoded ? "base64" : "utf8"), isBase64Encoded,
      });
      found.push([answer.statusCode, typeof answer.body, signals.length]);
    }
    found.push((await handler({ rawPath: "/", rawQueryString: "", headers: {}, requestContext: { http: { method: "GET" } } })).statusCode);`);
  expect(found).toEqual([[200, "string", 1], [200, "string", 2], [401, "string", 2], 405]);
});

test("the example of a hand-off passes the key on, and tells what may work later from what never will", async () => {
  writeFileSync(join(folder, "handler.mjs"), block("hand-off", "https://queue.example/jobs"));
  const found = await run(`
    import { signalEvent, testReceiver, waitForEvent } from "signalbox/testing";
    import { onSignal } from "./handler.mjs";
    const found = [];
    let status;
    globalThis.fetch = async (url, { headers, signal }) => {
      found.push([url, headers["Idempotency-Key"].replace(/sig_.*/, "<id>"), signal instanceof AbortSignal]);
      return new Response(null, { status });
    };
    for ([status] of [[202], [429], [422], [500]]) {
      const { deliver, receiver, clock } = await testReceiver({ onSignal });
      const event = signalEvent();
      await deliver(event);
      const ended = { 202: "done", 422: "dead" }[status] ?? "ready";
      const { state, attempts, lastError, dueAt } = await waitForEvent(receiver, event.id, { state: ended });
      found.push([status, state, attempts, lastError?.match(/.*/)[0] ?? null, status === 429 ? dueAt - clock.now() : null]);
    }`);
  const call = ["https://queue.example/jobs", "default/<id>", true];
  expect(found).toEqual([
    call,
    [202, "done", 1, null, null],
    call,
    [429, "ready", 0, "RetryLater: the queue is rate limited", 60_000],
    call,
    [422, "dead", 1, "PermanentFailure: the queue does not want this signal", null],
    call,
    [500, "ready", 1, "Error: the queue answered 500", null],
  ]);
});

test.each(["SIGTERM", "SIGINT"] as const)(
  "shutting down on %s answers the delivery that is under way, lets the callback that runs come back, and exits 0",
  async (name) => {
    const file = join(folder, "block.mjs");
    const code = block("running", "process.once(");
    writeFileSync(
      file,
      `${EXPRESS}
    import { request } from "node:http";
    import { createReceiver } from "signalbox";
    import { sqliteStore } from "signalbox/stores/sqlite";
    import { signalEvent, signedDelivery } from "signalbox/testing";
    let finish;
    const onSignal = () => finish === undefined && new Promise((resolve) => { finish = resolve; process.send("begun"); });
    const receiver = createReceiver({ secrets: "s", store: sqliteStore("signals.db"), onSignal, logger: false, handoff: { concurrency: 1 } });
    await receiver.start();
    receiver.on("handedOff", () => process.send("handed off"));
    const app = express().use("/webhooks/signals", expressHandler(receiver));
    ${code}
    await new Promise((resolve) => server.once("listening", resolve));
    const url = \`http://127.0.0.1:\${server.address().port}/webhooks/signals\`;
    const { headers, body } = signedDelivery(signalEvent(), { secret: "s" });
    const slow = request(url, { method: "POST", headers: { ...headers, "Content-Length": body.length } });
    slow.on("response", (response) => { process.send(response.statusCode); response.resume(); });
    slow.on("error", ({ code }) => process.send(code));
    slow.write(body.subarray(0, 9));
    process.on(${JSON.stringify(name)}, () => setImmediate(() => { slow.end(body.subarray(9)); finish(); }));
    await fetch(url, { method: "POST", ...signedDelivery(signalEvent(), { secret: "s" }) });`,
    );
    const child = startOnAnyPort(folder, "block.mjs");
    const told: unknown[] = [];
    child.on("message", (message) => {
      told.push(message);
      if (message === "begun") child.kill(name);
    });
    const [exitCode, signal] = (await once(child, "exit")) as [number | null, string | null];
    expect([exitCode, signal]).toEqual([0, null]);
    expect(told).toEqual(expect.arrayContaining([200, "handed off"]));
  },
);

test("the receiver with a file of secrets starts without it, and takes what each line of it signed", async () => {
  const found = await run(`
    import { renameSync, writeFileSync } from "node:fs";
    import { signalEvent, signedDelivery } from "signalbox/testing";
    process.chdir(${JSON.stringify(folder)});
    console.log = () => {};
    ${block("secrets", "secretFile(")}
    await receiver.start();
    const post = async (secret) => (await receiver.handle({ method: "POST", ...signedDelivery(signalEvent(), { secret }) })).status;
    const early = post("whsec_one");
    writeFileSync("new.secret", "whsec_one\\r\\nwhsec_two\\n", { mode: 0o600 });
    renameSync("new.secret", "signals.secret");
    const found = [await early, await post("whsec_two"), await post("whsec_three")];
    writeFileSync("signals.secret", "whsec_three\\n");
    found.push(await post("whsec_three"), await post("whsec_two"));
    await receiver.close();`);
  expect(found).toEqual([200, 200, 401, 200, 401]);
});
