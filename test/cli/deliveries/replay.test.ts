import { join } from "node:path";
import { expect, test } from "vitest";
import { nodeHandler } from "../../../src/kit/receiver/adapters/node-handler.js";
import { startReceiver } from "../../http/serve.js";
import { callCli } from "../call-cli.js";
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

const nameOf = ({ name, sending, sendings }: Row): string =>
  sendings === 1 ? name : `${name} (${sending}/${sendings})`;

async function failingNames(
  url: string,
  ...args: string[]
): Promise<{ exitCode: number | null; names: string[] }> {
  const run = await callCli(["replay", "--url", url, "--json", ...args]);
  const rows = rowsOf<Row>(run);
  expect(rows.map(nameOf).sort()).toEqual(REQUESTS.map(({ name }) => name).sort());
  return { exitCode: run.exitCode, names: rows.filter(({ ok }) => !ok).map(nameOf) };
}

const namesExpecting = (
  isIt: (expected: (typeof REQUESTS)[number]["expect"]) => boolean,
): string[] => REQUESTS.filter(({ expect: expected }) => isIt(expected)).map(({ name }) => name);

const CLEAN_UP = "npx signalbox inbox discard --state quarantined --yes --db INBOX";

test("a right receiver answers everything as expected, twice in a row and in parallel", async () => {
  const { url } = await serveReceiver();
  const first = await callCli(["replay", "--url", url]);
  expect(first).toMatchObject({ exitCode: 0 });
  expect(first.lines).toHaveLength(REQUESTS.length + 1);
  expect(first.lines.at(-1)).toMatch(/^all \d+ answers as expected, in [\d.]+ s$/);
  expect(first.stderr).toContain(CLEAN_UP);
  expect(await failingNames(url, "--concurrency", "8")).toEqual({ exitCode: 0, names: [] });
});

test("a server that says yes to everything fails exactly the cases that want another answer", async () => {
  const { url } = await serveRecorder();
  const wanted = namesExpecting(({ body }) => JSON.stringify(body) !== '{"received":true}');
  const { exitCode, names } = await failingNames(url);
  expect(exitCode).toBe(1);
  expect(names.sort()).toEqual(wanted.sort());
  const run = await callCli(["replay", "--url", url, "--only", "wrong-secret"]);
  expect(run.exitCode).toBe(1);
  expect(run.lines[0]).toMatch(/^FAILED +wrong-secret +200 received, not 401 signature_mismatch$/);
  expect(run.lines.at(-1)).toMatch(
    /^3 of 3 .*: wrong-secret, wrong-secret-not-json, wrong-secret-verification$/,
  );
});

test("an app whose cors() answers OPTIONS before the receiver fails nothing", async () => {
  const handle = nodeHandler(await startReceiver({ secrets: SECRET }));
  const url = await listen((request, response) => {
    if (request.method !== "OPTIONS") return handle(request, response);
    response
      .writeHead(204, { "Access-Control-Allow-Methods": "GET,HEAD,PUT,PATCH,POST,DELETE" })
      .end();
  });
  expect(await callCli(["replay", "--url", url, "--only", "options"])).toMatchObject({
    exitCode: 0,
  });
});

test("a receiver with a wider tolerance fails the cases about age alone", async () => {
  const { url } = await serveReceiver({ toleranceSeconds: 400 });
  expect((await failingNames(url)).names).toEqual(["too-old", "too-early"]);
});

test("a server that never dedupes fails the repeats alone", async () => {
  const { url } = await serveReceiver({ endpoint: "first" });
  const forget = (text: string): string => text.replace(',"duplicate":true', "");
  const forgetful = await serveProxy(url, () => ({}), forget);
  const repeats = namesExpecting(({ body }) => body?.["duplicate"] === true);
  expect((await failingNames(forgetful)).names).toEqual(repeats);
});

test("a server that answers nonsense fails, and its answer is shown without control characters", async () => {
  const { url } = await serveRecorder((_request, response) => {
    response.statusCode = 500;
    response.end("\u001b[31mboom\u001b[0m");
  });
  const run = await callCli(["replay", "--url", url, "--only", "new-signal"]);
  expect(run.exitCode).toBe(1);
  expect(run.stdout).toContain("500 \\u001b[31mboom\\u001b[0m");
  expect(run.stdout).not.toContain("\u001b");
});

test("the wire carries what the cases ask for", async () => {
  const { url, requests } = await serveRecorder();
  for (const name of [
    "header-twice",
    "new-signal-chunked",
    "exactly-the-limit-chunked",
    "gzip-unsigned",
    "get",
  ]) {
    await callCli(["replay", "--url", url, "--only", name]);
  }
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

test("with --as-is a known id may be answered as a duplicate", async () => {
  const { url, receiver } = await serveReceiver();
  expect(await failingNames(url, "--as-is")).toEqual({ exitCode: 0, names: [] });
  expect(await failingNames(url, "--as-is")).toEqual({ exitCode: 0, names: [] });
  const ids = (await receiver.inbox.list({ limit: 1000 })).map(({ eventId }) => eventId);
  expect(ids.filter((id) => id === "sig_885702_10233")).toHaveLength(1);
});

test("--only and --skip take a part of a name or a pattern, and one that matches nothing is wrong usage", async () => {
  const { url, requests } = await serveRecorder();
  const replay = (...args: string[]): Promise<CliRun> =>
    callCli(["replay", "--url", url, "--json", ...args]);
  const names = async (...args: string[]) =>
    rowsOf<Row>(await replay(...args)).map(({ name }) => name);
  expect(await names("--only", "signals/price_*", "--skip", "decreased")).toEqual([
    "signals/price_increased",
  ]);
  expect(await names("--only", "two-")).toEqual(["two-v1", "two-t"]);
  requests.length = 0;
  for (const skip of ["nonsense", "*"]) {
    const run = await replay("--skip", skip);
    expect(run).toMatchObject({ exitCode: 2, stdout: "" });
    expect(run.stderr).toMatch(/^signalbox replay: --skip .*\n$/);
  }
  expect(requests).toEqual([]);
});

test("a folder of one's own is sent, each event with the answer that its content asks for", async () => {
  const { url } = await serveReceiver();
  const envelope = { id: "evt_1", version: "1", created_at: "2026-11-20T12:00:00.000Z" };
  const folder = tempFiles({
    "mine/test.json": JSON.stringify({
      ...envelope,
      type: "webhook.test",
      data: { message: "hi" },
    }),
    "mine/later.json": JSON.stringify({ ...envelope, type: "signal.retracted", data: {} }),
    "verify.json": JSON.stringify({
      ...envelope,
      type: "webhook.verification",
      data: { challenge: "c" },
    }),
    "broken.json": JSON.stringify({ ...envelope, type: "signal.published", data: "text" }),
    "notes.txt": "no event",
  });
  const run = await callCli(["replay", folder, "--url", url]);
  expect(run.exitCode).toBe(0);
  expect(run.lines.slice(0, -1).map((line) => line.split(/ {2,}/))).toEqual([
    ["ok", "broken", "200 quarantined"],
    ["ok", "mine/later", "200 received"],
    ["ok", "mine/test", "200 received"],
    ["ok", "verify", "200 challenge"],
  ]);
});

test.each([
  ["no such folder", undefined, "cannot read the folder"],
  ["no event in it", {}, "there is no event (*.json) in"],
  ["an event that is no JSON", { "a.json": "{" }, "it is not JSON"],
  ["an event that is no object", { "a.json": "[]" }, "is not an event"],
  [
    "an unknown key",
    { "deliveries.json": '{"version":1,"deliveries":[{"nmae":"x"}]}' },
    "deliveries.json: deliveries.0",
  ],
  [
    "an event that is not there",
    {
      "deliveries.json":
        '{"version":1,"deliveries":[{"name":"x","event":"y","expect":{"status":200}}]}',
    },
    "x names the event y, which does not exist",
  ],
])("a folder with a fault is named: %s", async (_what, files, words) => {
  const folder = files === undefined ? "/no/such/folder" : tempFiles(files);
  const run = await callCli(["replay", folder, "--url", "http://127.0.0.1:1/"]);
  expect(run).toMatchObject({ exitCode: 3, stdout: "" });
  expect(run.stderr).toContain(words);
  expect(run.stderr.trimEnd().split("\n")).toHaveLength(1);
});

test("--dotenv takes the secret and the port from a file, below what is set", async () => {
  const { url } = await serveReceiver();
  const { port } = new URL(url);
  const folder = tempFiles({
    right: `SIGNALS_SECRET=${SECRET}\nPORT=${port}\n`,
    wrong: "SIGNALS_SECRET=other\nPORT=1\n",
  });
  const replay = (file: string, ...args: string[]): Promise<CliRun> =>
    runCli(["replay", "--only", "signals/price_increased", "--dotenv", file, ...args], {
      cwd: folder,
    });
  expect(await replay("right")).toMatchObject({ exitCode: 0 });
  expect(await replay("wrong", "--url", url)).toMatchObject({ exitCode: 1 });
  const isSet = { env: { SIGNALS_SECRET: SECRET, PORT: port } };
  const wrong = ["replay", "--only", "signals/price_increased", "--dotenv", join(folder, "wrong")];
  expect(await callCli(wrong, isSet)).toMatchObject({ exitCode: 0 });
  const missing = await callCli(["replay", "--dotenv", "no-such"]);
  expect(missing).toMatchObject({
    exitCode: 3,
    stderr: expect.stringContaining("cannot read no-such"),
  });
  const noPort = await callCli(["replay", "--dotenv", tempFile("PORT=80a\n")]);
  expect(noPort).toMatchObject({
    exitCode: 2,
    stdout: "",
    stderr: expect.stringContaining("PORT is 80a"),
  });
});

test("of many that fail some are named, and doctor where they are most", async () => {
  const { url } = await serveRecorder();
  const few = await callCli(["replay", "--url", url, "--skip", "*-*"]);
  const named = /^\d+ of \d+ answers not as expected: ([^,]+, ){4}\S+ and \d+ more$/;
  expect(few.lines.at(-1)).toMatch(named);
  expect(few.stderr).not.toContain("doctor");
  const { url: other } = await serveReceiver({ secrets: "another" });
  const most = await callCli(["replay", "--url", other]);
  expect(most.lines.at(-1)).toMatch(named);
  expect(most.stderr).toContain("npx signalbox doctor --url");
});
