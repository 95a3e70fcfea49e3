import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { parseEvent, SIGNAL_TYPES, verifySignature, type Signal } from "../../../src/kit/index.js";
import { callCli } from "../call-cli.js";
import { expectGolden, transcriptOf, wordsIn, type Scene } from "../golden.js";
import { ndjson, rowsOf, runCli, SECRET, type CliRun } from "../run-cli.js";
import { listen, serveReceiver, serveRecorder, type RecordedRequest } from "../serve-requests.js";
import { tempFile } from "../temp-files.js";

const eventOf = (request: RecordedRequest | undefined): Signal =>
  JSON.parse(request?.body.toString() ?? "null") as Signal;

const verificationOf = ({ headers, body }: RecordedRequest, toleranceSeconds = 300): unknown =>
  verifySignature({
    header: headers["x-service-signature"] as string | undefined,
    body,
    secrets: [SECRET],
    toleranceSeconds,
  });

/** A server that writes down what it gets, and `send` to it. */
async function recorder() {
  const { url, requests } = await serveRecorder();
  return {
    requests,
    send: (words: string, input?: Buffer): Promise<CliRun> =>
      callCli(["send", ...wordsIn(words), "--url", url], { ...(input && { input }) }),
  };
}

test("every signal type, and both other events, can be sent by name", async () => {
  const { send, requests } = await recorder();
  for (const type of [...SIGNAL_TYPES, "test", "verification"])
    expect((await send(type)).exitCode).toBe(0);
  expect(requests).toHaveLength(40);
  for (const request of requests) {
    expect(verificationOf(request)).toMatchObject({ ok: true });
    expect(parseEvent(request.body).kind).toBe("known");
    expect(request.headers).toMatchObject({ "content-type": "application/json" });
  }
  expect(requests.slice(0, 38).map((request) => eventOf(request).data.signal_type)).toEqual(
    SIGNAL_TYPES,
  );
});

test("an event of a type, a file or stdin gets a new id that agrees with its data, and times that lead up to now", async () => {
  const { send, requests } = await recorder();
  const before = Date.now();
  const stored = readFileSync(new URL("../../../fixtures/signals/new_model.json", import.meta.url));
  await send("new_model --count 2");
  await send(tempFile(stored));
  await send("-", stored);
  const events = requests.map(eventOf);
  expect(new Set([...events, eventOf({ body: stored } as never)].map(({ id }) => id)).size).toBe(5);
  for (const { id, created_at, data } of events) {
    expect(id).toBe(`sig_${data.signal_id}_${data.product.id}`);
    expect(Number.isSafeInteger(data.signal_id)).toBe(true);
    expect(Date.parse(created_at)).toBeGreaterThanOrEqual(before);
    const { period, observed_at, published_at } = data;
    const times = [period.start, period.end, observed_at, published_at, created_at].map(Date.parse);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(Date.parse(created_at) - Date.parse(published_at)).toBeLessThan(24 * 3600 * 1000);
  }
});

test("--count and --concurrency send so many, each with an id of its own", async () => {
  const { url, receiver } = await serveReceiver();
  const args = ["send", "test", "--url", url, "--count", "200", "--concurrency", "16", "--json"];
  const run = await runCli([...args, "--secret", SECRET]);
  // Node warns there when listeners pile up on a kept connection.
  expect(run).toMatchObject({ exitCode: 0, stderr: "" });
  const rows = rowsOf(run);
  for (const name of ["eventId", "number"])
    expect(new Set(rows.map((row) => row[name])).size).toBe(200);
  expect(await receiver.inbox.stats()).toMatchObject({ total: 200 });
});

test("--skew moves the time of signing, and --tamper changes one byte after it", async () => {
  const { send, requests } = await recorder();
  for (const words of ["test --skew -301", "test --skew 1000", "test --tamper"]) await send(words);
  const [past, future, tampered] = requests as [RecordedRequest, RecordedRequest, RecordedRequest];
  expect(verificationOf(past)).toEqual({ ok: false, reason: "timestamp_out_of_tolerance" });
  expect(verificationOf(past, 305)).toMatchObject({ ok: true });
  expect(verificationOf(future, 990)).toEqual({ ok: false, reason: "timestamp_out_of_tolerance" });
  expect(verificationOf(future, 1000)).toMatchObject({ ok: true });
  expect(verificationOf(tampered)).toEqual({ ok: false, reason: "signature_mismatch" });
});

test("--set sets values, JSON where they parse, and the id follows", async () => {
  const { send, requests } = await recorder();
  await send(
    "price_increased --set data.product.slug=acme --set data.product.id=7 --set data.change.magnitude=0.5 " +
      `--set 'data.title=5 more' --set data.summary="5" --set data.extra.deep=[1,{}] --set data.url=`,
  );
  await send("price_increased --set id=mine --set data.signal_id=1");
  await send("test --set constructor.prototype.polluted=1");
  const [{ id, data }, { id: mine }, polluted] = requests.map(eventOf) as [Signal, Signal, Signal];
  expect(data).toMatchObject({ title: "5 more", summary: "5", url: "", extra: { deep: [1, {}] } });
  expect(data.product).toEqual({ id: 7, slug: "acme" });
  expect(data.change.magnitude).toBe(0.5);
  expect(id).toBe(`sig_${data.signal_id}_7`);
  expect(mine).toBe("mine");
  expect(polluted).toMatchObject({ constructor: { prototype: { polluted: 1 } } });
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
});

test("--as-is sends a file's bytes untouched, whatever they are", async () => {
  const { send, requests } = await recorder();
  const odd = [[0xff, 0x00, 0x0d, 0x0a], '{ "id" : "evt_1" }\n', ""] as string[];
  for (const bytes of odd.map((each) => Buffer.from(each))) {
    await send(`${tempFile(bytes)} --as-is`);
    const request = requests.at(-1) as RecordedRequest;
    expect(request.body).toEqual(bytes);
    expect(verificationOf(request)).toMatchObject({ ok: true });
  }
});

test("what is printed, and the exit code", async () => {
  const { url, receiver } = await serveReceiver();
  const { url: hostile, requests } = await serveRecorder(({ headers }, response) => {
    const signature = headers["x-service-signature"];
    response.statusCode = 302;
    response.end(
      JSON.stringify({ secret: 'with"quotes', signature }) + "\u001b]0;title\u0007 \u202e",
    );
  });
  const { url: never, requests: none } = await serveRecorder();
  const bad = `send price_increased --url ${url} --set data.period=1`;
  const quoted: Omit<Scene, "args"> = { env: { SIGNALS_SECRET: 'with"quotes' } };
  const wrong = ["__proto__.x=1", "data.__proto__=1", "data", "=1", "data..x=1", "type.x=1"];
  const text = await transcriptOf([
    `send price_increased --url ${url}`,
    `send price_increased --url ${url} --count 3 --duplicate`,
    { title: "quarantined", args: bad },
    `${bad} --count 3`,
    { args: `send - --as-is --url ${url} --json`, input: "no JSON" },
    { title: "not 2xx, and hostile", args: `send test --url ${hostile}`, ...quoted },
    { args: `send test --url ${hostile} --json`, ...quoted },
    {
      title: "no answer",
      args: `send test --url ${await listen(() => undefined)} --timeout 1`,
    },
    { title: "nothing is sent", args: `send price_incresed --url ${never}` },
    `send constructor --url ${never}`,
    `send ./no/such.json --url ${never}`,
    { args: `send - --url ${never}`, input: "no JSON" },
    ...[...wrong, "data.message.x=1"].map((each) => `send test --url ${never} --set ${each}`),
    "send test --url http://127.0.0.1:1/x --count 5",
  ]);
  expect(none).toEqual([]);
  expect(text).not.toMatch(/with.{0,3}quotes|[0-9a-f]{64}|(?!\n)[\p{Cc}\u202e]/u);
  const wire = requests.map(({ rawHeaders, body }) => [rawHeaders, body.toString()]);
  expect(JSON.stringify(wire)).not.toContain("quotes");
  expect(await receiver.inbox.stats()).toMatchObject({ done: 2, quarantined: 5 });
  await expectGolden("send", text, [
    [/"(ms|p50Ms|p99Ms|seconds)":[\d.]+/g, '"$1":N'],
    [/\bsig_\d+/g, "sig_N"],
    [/\bevt_[\da-f]+/g, "evt_N"],
    [/t=\d+,v1/g, "t=TIME,v1"],
    [/ sent in [\d.]+ s \(\d+\/s\)/g, " sent in N s (N/s)"],
  ]);
});

test.each(["send test --count 2", "replay --only signals/price_*"])(
  "%s has as many deliveries in flight as --concurrency says",
  async (words) => {
    const held: ServerResponse[] = [];
    const url = await listen((_request, response) => {
      held.push(response);
      if (held.length === 2) for (const each of held.splice(0)) each.end();
    });
    const args = `${words} --url ${url} --concurrency 2 --timeout 5`;
    const { lines } = await callCli(wordsIn(args));
    expect(lines).toHaveLength(3);
    expect(lines.filter((line) => line.includes("timeout"))).toEqual([]);
  },
);

test("a run that ends early is not ok, though no delivery failed", async () => {
  const { url } = await serveReceiver();
  const stop = new AbortController();
  const how = { signal: stop.signal, onOutput: () => stop.abort() };
  const run = await callCli(["send", "test", "--url", url, "--count", "5", "--json"], how);
  expect(ndjson(run).at(-1)).toMatchObject({ summary: { ok: false, sent: 1, failed: 0 } });
});
