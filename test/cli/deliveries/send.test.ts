import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { parseEvent, SIGNAL_TYPES, verifySignature, type Signal } from "../../../src/kit/index.js";
import { callCli } from "../call-cli.js";
import { ndjson, rowsOf, runCli, SECRET } from "../run-cli.js";
import { listen, serveReceiver, serveRecorder, type RecordedRequest } from "../serve-requests.js";
import { tempFile } from "../temp-files.js";

const eventOf = (request: RecordedRequest | undefined): Signal =>
  JSON.parse(request?.body.toString() ?? "null") as Signal;

const verificationOf = ({ headers, body }: RecordedRequest, toleranceSeconds?: number): unknown =>
  verifySignature({
    header: headers["x-service-signature"] as string | undefined,
    body,
    secrets: [SECRET],
    ...(toleranceSeconds !== undefined && { toleranceSeconds }),
  });

test("a signal is signed now and sent, and the answer is shown", async () => {
  const { url, receiver } = await serveReceiver();
  const run = await callCli(["send", "price_increased", "--url", url]);
  expect(run).toMatchObject({ exitCode: 0, stderr: "" });
  expect(run.stdout).toMatch(/^200 +\d+\.\d ms {2}sig_\d+_\d+ {2}\{"received":true\}\n$/);
  const [stored] = await receiver.inbox.list({});
  expect(run.stdout).toContain(`  ${stored?.eventId}  `);
  expect(await receiver.inbox.stats()).toMatchObject({ total: 1 });
});

test("every signal type, and both other events, can be sent by name", async () => {
  const { url, requests } = await serveRecorder();
  const types = [...SIGNAL_TYPES, "test", "verification"];
  for (const type of types) expect((await callCli(["send", type, "--url", url])).exitCode).toBe(0);
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

test("an event gets a new id that agrees with its data, and times that lead up to now", async () => {
  const { url, requests } = await serveRecorder();
  const before = Date.now();
  await callCli(["send", "price_increased", "--url", url, "--count", "2"]);
  const [first, second] = requests.map(eventOf);
  if (first === undefined || second === undefined) throw new Error("there were not two requests");
  expect(first.id).not.toBe(second.id);
  for (const { id, created_at, data } of [first, second]) {
    expect(id).toBe(`sig_${data.signal_id}_${data.product.id}`);
    expect(Number.isSafeInteger(data.signal_id)).toBe(true);
    expect(Date.parse(created_at)).toBeGreaterThanOrEqual(before);
    const times = [
      data.period.start,
      data.period.end,
      data.observed_at,
      data.published_at,
      created_at,
    ].map(Date.parse);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(Date.parse(created_at) - Date.parse(data.published_at)).toBeLessThan(24 * 3600 * 1000);
    expect(data.product.slug).toBe("cobalt-scribe");
  }
});

test("--duplicate sends the same id and body each time, and the receiver takes it once", async () => {
  const { url, receiver } = await serveReceiver();
  const run = await callCli([
    "send",
    "price_increased",
    "--url",
    url,
    "--count",
    "3",
    "--duplicate",
  ]);
  expect(run.exitCode).toBe(0);
  expect(run.lines.map((line) => line.replace(/^#\d +200 +[\d.]+ ms {2}sig_\w+ {2}/, ""))).toEqual([
    '{"received":true}',
    '{"received":true,"duplicate":true}',
    '{"received":true,"duplicate":true}',
    expect.stringMatching(/^3 sent in [\d.]+ s \(\d+\/s\): 3 × 200; .* [\d.]+ ms$/),
  ]);
  expect(await receiver.inbox.stats()).toMatchObject({ total: 1 });
});

test("--count and --concurrency send so many, each with an id of its own", async () => {
  const { url, receiver } = await serveReceiver();
  const args = ["send", "test", "--url", url, "--count", "200", "--concurrency", "16", "--json"];
  const run = await runCli([...args, "--secret", SECRET]);
  expect(run.exitCode).toBe(0);
  // Node warns there when listeners pile up on a kept connection.
  expect(run.stderr).toBe("");
  const rows = rowsOf(run);
  expect(new Set(rows.map((row) => row["eventId"])).size).toBe(200);
  expect(new Set(rows.map((row) => row["number"])).size).toBe(200);
  expect(await receiver.inbox.stats()).toMatchObject({ total: 200 });
});

test("--skew moves the time of signing, and --tamper changes one byte after it", async () => {
  const { url, requests } = await serveRecorder();
  await callCli(["send", "test", "--url", url, "--skew", "-301"]);
  await callCli(["send", "test", "--url", url, "--skew", "1000"]);
  await callCli(["send", "test", "--url", url, "--tamper"]);
  const [past, future, tampered] = requests as [RecordedRequest, RecordedRequest, RecordedRequest];
  expect(verificationOf(past)).toEqual({ ok: false, reason: "timestamp_out_of_tolerance" });
  expect(verificationOf(past, 305)).toMatchObject({ ok: true });
  expect(verificationOf(future, 990)).toEqual({ ok: false, reason: "timestamp_out_of_tolerance" });
  expect(verificationOf(future, 1000)).toMatchObject({ ok: true });
  expect(verificationOf(tampered)).toEqual({ ok: false, reason: "signature_mismatch" });
});

test("--set sets values, JSON where they parse, and the id follows", async () => {
  const { url, requests } = await serveRecorder();
  const sets = [
    "data.product.slug=acme",
    "data.product.id=7",
    "data.change.magnitude=0.5",
    "data.title=5 more",
    'data.summary="5"',
    "data.extra.deep=[1,{}]",
    "data.url=",
  ];
  const { exitCode } = await callCli([
    "send",
    "price_increased",
    "--url",
    url,
    ...sets.flatMap((s) => ["--set", s]),
  ]);
  expect(exitCode).toBe(0);
  const { id, data } = eventOf(requests[0]);
  expect(data).toMatchObject({ title: "5 more", summary: "5", url: "", extra: { deep: [1, {}] } });
  expect(data.product).toEqual({ id: 7, slug: "acme" });
  expect(data.change.magnitude).toBe(0.5);
  expect(id).toBe(`sig_${data.signal_id}_7`);
  await callCli([
    "send",
    "price_increased",
    "--url",
    url,
    "--set",
    "id=mine",
    "--set",
    "data.signal_id=1",
  ]);
  expect(eventOf(requests[1]).id).toBe("mine");
});

test.each([
  "__proto__.x=1",
  "data.__proto__=1",
  "data",
  "=1",
  "data..x=1",
  "type.x=1",
  "data.message.x=1",
])("--set %s is refused and nothing is sent", async (assignment) => {
  const { url, requests } = await serveRecorder();
  const run = await callCli(["send", "test", "--url", url, "--set", assignment]);
  expect(run).toMatchObject({ exitCode: 2, stdout: "" });
  expect(run.stderr).toContain("--set");
  expect(requests).toEqual([]);
});

test("--set cannot reach out of the event", async () => {
  const { url, requests } = await serveRecorder();
  await callCli(["send", "test", "--url", url, "--set", "constructor.prototype.polluted=1"]);
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  expect(eventOf(requests[0])).toMatchObject({ constructor: { prototype: { polluted: 1 } } });
});

test("--as-is sends a file's bytes untouched, whatever they are", async () => {
  const { url, requests } = await serveRecorder();
  for (const bytes of [
    Buffer.from([0xff, 0x00, 0x0d, 0x0a]),
    Buffer.from('{ "id" : "evt_1" }\n'),
    Buffer.alloc(0),
  ]) {
    expect((await callCli(["send", tempFile(bytes), "--url", url, "--as-is"])).exitCode).toBe(0);
    const request = requests.at(-1) as RecordedRequest;
    expect(request.body).toEqual(bytes);
    expect(verificationOf(request)).toMatchObject({ ok: true });
  }
});

test("a file and stdin are stamped anew like a type", async () => {
  const { url, requests } = await serveRecorder();
  const stored = readFileSync(new URL("../../../fixtures/signals/new_model.json", import.meta.url));
  await callCli(["send", tempFile(stored), "--url", url]);
  await callCli(["send", "-", "--url", url], { input: stored });
  const ids = requests.map((request) => eventOf(request).id);
  expect(new Set([...ids, (JSON.parse(stored.toString()) as Signal).id]).size).toBe(3);
});

test("an event that is quarantined is exit 0, and a note says where it is kept", async () => {
  const { url } = await serveReceiver();
  const bad = ["send", "price_increased", "--url", url, "--set", "data.period=1"];
  const one = await callCli(bad);
  expect(one.exitCode).toBe(0);
  expect(one.stderr).toMatch(
    /^1 quarantined: .*\n {2}\$ npx signalbox inbox ls --state quarantined/,
  );
  const several = await callCli([...bad, "--count", "3"]);
  expect(several.exitCode).toBe(0);
  expect(several.stderr).toMatch(/^3 quarantined: .*\n.*\n$/);
  const bytes = await callCli(["send", "-", "--as-is", "--url", url, "--json"], {
    input: "no JSON",
  });
  expect(ndjson(bytes)[0]).toMatchObject({ eventId: null, status: 200 });
});

test("an answer that is not 2xx is exit 1, and its control characters are not passed on", async () => {
  const { url } = await serveRecorder((_request, response) => {
    response.statusCode = 302;
    response.end("\u001b]0;title\u0007 \u202e");
  });
  const run = await callCli(["send", "test", "--url", url]);
  expect(run.exitCode).toBe(1);
  expect(run.stdout).toContain("302 ");
  expect(run.stdout).toContain("\\u001b]0;title\\u0007 \\u202e");
  const json = await callCli(["send", "test", "--url", url, "--json"]);
  expect(json.stdout).not.toMatch(/(?!\n)[\p{Cc}\u202e]/u);
  expect(ndjson(json)[0]).toMatchObject({ status: 302, body: "\u001b]0;title\u0007 \u202e" });
});

test.each([
  ["send", "test"],
  ["replay", "--only", "signals/price_increased"],
])(
  "%s waits for an answer as long as --timeout says, and not its default",
  { timeout: 10_000 },
  async (...words) => {
    const url = await listen(() => undefined);
    const run = await callCli([...words, "--url", url, "--timeout", "1"]);
    expect(run).toMatchObject({
      exitCode: 1,
      stdout: expect.stringContaining("no answer (timeout)"),
    });
  },
);

test.each([
  ["send", "test", "--count", "2"],
  ["replay", "--only", "signals/price_*"],
])("%s has as many deliveries in flight as --concurrency says", async (...words) => {
  const held: ServerResponse[] = [];
  const url = await listen((_request, response) => {
    held.push(response);
    if (held.length === 2) for (const each of held.splice(0)) each.end();
  });
  const { lines } = await callCli([...words, "--url", url, "--concurrency", "2", "--timeout", "5"]);
  expect(lines).toHaveLength(3);
  expect(lines.filter((line) => line.includes("timeout"))).toEqual([]);
});

test("a run that ends early is not ok, though no delivery failed", async () => {
  const { url } = await serveReceiver();
  const stop = new AbortController();
  const how = { signal: stop.signal, onOutput: () => stop.abort() };
  const run = await callCli(["send", "test", "--url", url, "--count", "5", "--json"], how);
  expect(ndjson(run).at(-1)).toMatchObject({ summary: { ok: false, sent: 1, failed: 0 } });
});

test.each<[source: string, exitCode: number, says: string]>([
  ["price_incresed", 2, "did you mean price_increased?"],
  [import.meta.filename, 2, "--as-is"],
  ["constructor", 2, "is neither a file nor a signal type"],
  ["./no/such.json", 3, "there is no such file"],
  ["test", 3, "(ECONNREFUSED)"],
])("what cannot be sent is one line: %s", async (source, exitCode, says) => {
  const run = await callCli(["send", source, "--url", "http://127.0.0.1:1/x", "--count", "5"]);
  expect(run).toMatchObject({
    exitCode,
    stdout: "",
    stderr: expect.stringMatching(/^signalbox send: .*\n$/),
  });
  expect(run.stderr).toContain(says);
});

test("no secret is sent, and none is printed, nor a signature, where the receiver quotes them", async () => {
  const secret = 'whsec_with"quotes';
  const { url, requests } = await serveRecorder(({ headers }, response) => {
    response.end(JSON.stringify({ secret, signature: headers["x-service-signature"] }));
  });
  for (const args of [[], ["--json"]]) {
    const run = await callCli(["send", "test", "--url", url, "--secret", secret, ...args]);
    expect(run.stdout).toMatch(/\[the secret\].*t=\d+,v1=\[a signature\]/);
    expect(run.stdout + run.stderr).not.toMatch(/with.{0,3}quotes|[0-9a-f]{64}/);
  }
  const wire = JSON.stringify(
    requests.map(({ rawHeaders, body }) => [rawHeaders, body.toString()]),
  );
  expect(wire).not.toContain("quotes");
});
