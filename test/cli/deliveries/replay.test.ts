import { expect, test } from "vitest";
import { nodeHandler } from "../../../src/kit/receiver/adapters/node-handler.js";
import { startReceiver } from "../../http/serve.js";
import { callCli } from "../call-cli.js";
import { expectGolden, transcriptOf, type Scene } from "../golden.js";
import { rowsOf, runCli, SECRET, type CliRun } from "../run-cli.js";
import { listen, serveProxy, serveReceiver, serveRecorder } from "../serve-requests.js";
import { tempFile, tempFiles } from "../temp-files.js";
import { REQUESTS } from "./fixture-names.js";

interface Row {
  name: string;
  sending: number;
  sendings: number;
  ok: boolean;
}

/** The names of the requests that were not answered as expected. All were sent. */
async function failingNames(url: string, ...args: string[]): Promise<string[]> {
  const run = await callCli(["replay", "--url", url, "--json", ...args]);
  const rows = rowsOf<Row>(run).map(({ name, sending, sendings, ok }) => ({
    name: sendings === 1 ? name : `${name} (${sending}/${sendings})`,
    ok,
  }));
  expect(rows.map(({ name }) => name).sort()).toEqual(REQUESTS.map(({ name }) => name).sort());
  const failing = rows.filter(({ ok }) => !ok).map(({ name }) => name);
  expect(run.exitCode).toBe(failing.length === 0 ? 0 : 1);
  return failing;
}

const namesExpecting = (
  isIt: (expected: (typeof REQUESTS)[number]["expect"]) => boolean,
): string[] => REQUESTS.filter(({ expect: expected }) => isIt(expected)).map(({ name }) => name);

test("a right receiver answers everything as expected, twice in a row, in parallel, and known ids with --as-is", async () => {
  const { url, receiver } = await serveReceiver();
  expect(await failingNames(url)).toEqual([]);
  for (const args of [["--concurrency", "8"], ["--as-is"], ["--as-is"]])
    expect(await failingNames(url, ...args)).toEqual([]);
  const ids = (await receiver.inbox.list({ limit: 1000 })).map(({ eventId }) => eventId);
  expect(ids.filter((id) => id === "sig_885702_10233")).toHaveLength(1);
});

test("a wrong receiver fails the cases about its fault alone", async () => {
  const { url: yes } = await serveRecorder();
  const notReceived = namesExpecting(({ body }) => JSON.stringify(body) !== '{"received":true}');
  expect((await failingNames(yes)).sort()).toEqual(notReceived.sort());
  const { url: wide } = await serveReceiver({ toleranceSeconds: 400 });
  expect(await failingNames(wide)).toEqual(["too-old", "too-early"]);
  const { url } = await serveReceiver({ endpoint: "first" });
  const forget = (text: string): string => text.replace(',"duplicate":true', "");
  const forgetful = await serveProxy(url, () => ({}), forget);
  const repeats = namesExpecting(({ body }) => body?.["duplicate"] === true);
  expect(await failingNames(forgetful)).toEqual(repeats);
});

test("the wire carries what the cases ask for", async () => {
  const { url, requests } = await serveRecorder();
  const chunkedCases = ["new-signal-chunked", "exactly-the-limit-chunked"];
  for (const name of ["header-twice", ...chunkedCases, "gzip-unsigned", "get"])
    await callCli(["replay", "--url", url, "--only", name]);
  const [twice, chunked, large, gzip, get] = requests;
  expect(twice?.rawHeaders.filter((name) => name === "X-Service-Signature")).toHaveLength(2);
  expect(chunked?.headers).toMatchObject({ "transfer-encoding": "chunked" });
  expect(chunked?.headers["content-length"]).toBeUndefined();
  expect(large?.body.byteLength).toBe(262_144);
  expect(gzip?.headers["content-encoding"]).toBe("gzip");
  expect(gzip?.headers["x-service-signature"]).toBeUndefined();
  expect([gzip?.body[0], gzip?.body[1]]).toEqual([0x1f, 0x8b]);
  expect([get?.method, get?.body.byteLength]).toEqual(["GET", 0]);
});

const ENVELOPE = { id: "evt_1", version: "1", created_at: "2026-11-20T12:00:00.000Z" };
const eventOf = (type: string, data: unknown): string =>
  JSON.stringify({ ...ENVELOPE, type, data });
const OWN = {
  "mine/test.json": eventOf("webhook.test", { message: "hi" }),
  "mine/later.json": eventOf("signal.retracted", {}),
  "verify.json": eventOf("webhook.verification", { challenge: "c" }),
  "broken.json": eventOf("signal.published", "text"),
  "notes.txt": "no event",
};
const NAMELESS = '{"version":1,"deliveries":[{"nmae":"x"}]}';
const HOMELESS = '{"version":1,"deliveries":[{"name":"x","event":"y","expect":{"status":200}}]}';

test("what is printed, and the exit code", async () => {
  const { url } = await serveReceiver();
  const { url: yes, requests } = await serveRecorder();
  const { url: boom } = await serveRecorder((_request, response) => {
    response.statusCode = 500;
    response.end("\u001b[31mboom\u001b[0m");
  });
  const handle = nodeHandler(await startReceiver({ secrets: SECRET }));
  const cors = await listen((request, response) => {
    if (request.method !== "OPTIONS") return handle(request, response);
    response.writeHead(204, { "Access-Control-Allow-Methods": "GET,HEAD,POST" }).end();
  });
  const { url: other } = await serveReceiver({ secrets: "another" });
  const nothing = (title: string, folder: string): Scene => ({
    title,
    args: `replay ${folder} --url ${yes}`,
  });
  const before = await transcriptOf([
    nothing("no such folder", "/no/such/folder"),
    nothing("no event", tempFiles()),
    nothing("no JSON", tempFiles({ "a.json": "{" })),
    nothing("no object", tempFiles({ "a.json": "[]" })),
    nothing("an unknown key", tempFiles({ "deliveries.json": NAMELESS })),
    nothing("an event that is not there", tempFiles({ "deliveries.json": HOMELESS })),
    `replay --url ${yes} --skip nonsense`,
    `replay --url ${yes} --skip *`,
    "replay --dotenv no-such",
    `replay --dotenv ${tempFile("PORT=80a\n")}`,
  ]);
  expect(requests).toEqual([]);
  const text = await transcriptOf([
    { title: "right", args: `replay --url ${url} --only two-` },
    `replay --url ${url} --only signals/price_* --skip decreased`,
    { title: "events of one's own", args: `replay ${tempFiles(OWN)} --url ${url}` },
    { title: "yes to everything", args: `replay --url ${yes} --only wrong-secret` },
    `replay --url ${yes} --only wrong-secret --json`,
    { title: "of many that fail some are named", args: `replay --url ${yes} --skip *-*` },
    { title: "and doctor where they are most", args: `replay --url ${other} --skip signals/*` },
    { title: "cors() answers OPTIONS", args: `replay --url ${cors} --only options` },
    { title: "control characters", args: `replay --url ${boom} --only new-signal` },
    {
      title: "no answer",
      args: `replay --url ${await listen(() => undefined)} --only signals/new_model --timeout 1`,
    },
  ]);
  expect(text).not.toContain("\u001b");
  await expectGolden("replay", before + text, [
    [/, in [\d.]+ s$/gm, ", in N s"],
    [/"(ms|seconds)":[\d.]+/g, '"$1":N'],
  ]);
});

test("--dotenv takes the secret and the port from a file, below what is set", async () => {
  const { url } = await serveReceiver();
  const { port } = new URL(url);
  const cwd = tempFiles({
    right: `SIGNALS_SECRET=${SECRET}\nPORT=${port}\n`,
    wrong: "SIGNALS_SECRET=other\nPORT=1\n",
  });
  const replay = (env: Record<string, string>, ...args: string[]): Promise<CliRun> =>
    runCli(["replay", "--only", "signals/new_model", "--dotenv", ...args], { cwd, env });
  expect(await replay({}, "right")).toMatchObject({ exitCode: 0 });
  expect(await replay({}, "wrong", "--url", url)).toMatchObject({ exitCode: 1 });
  const isSet = { SIGNALS_SECRET: SECRET, PORT: port };
  expect(await replay(isSet, "wrong")).toMatchObject({ exitCode: 0 });
});
