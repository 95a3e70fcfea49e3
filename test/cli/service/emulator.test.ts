import { execFile } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { readAssumptions } from "../../../src/cli/service/emulator/emulator-command.js";
import { connectControl } from "../../../src/cli/service/emulator/remote-control.js";
import { createClient } from "../../../src/service/client/index.js";
import { serveEndpoint } from "../../unit/service/emulator/webhooks/webhook-world.js";
import { callCli } from "../call-cli.js";
import { expectGolden, playGolden } from "../golden.js";
import { MAIN, outcomeOf, startCli } from "../run-cli.js";
import { tempFiles } from "../temp-files.js";
import { serveCli } from "./serve-cli.js";

interface Started {
  pid: number;
  url: string;
  baseUrl: string;
  mcpUrl: string;
  controlUrl: string;
  now: string;
  accounts: { tier: string; key: string }[];
}

/** Starts it in this process. */
async function start(...args: string[]) {
  const { printed, stop } = serveCli(["emulator", "--port", "0", "--json", ...args]);
  return { started: JSON.parse(await printed(/"pid".*\n/)) as Started, stop };
}

/** Starts it for a person. @returns what it says on start */
async function show(args: readonly string[] = [], env: Record<string, string> = {}) {
  const { printed, stop } = serveCli(["emulator", "--port", "0", ...args], env);
  const said = await printed(/advance --months.*\n/);
  return { said, url: /Control +(\S+)\/_emulator/.exec(said)?.[1] ?? "", stop };
}

async function startProcess(...args: string[]) {
  const child = startCli(["emulator", "--port", "0", "--json", ...args]);
  onTestFinished(() => void child.kill("SIGKILL"));
  const outcome = outcomeOf(child);
  const lines = createInterface(child.stdout as NodeJS.ReadableStream);
  const [line] = (await once(lines, "line")) as [string];
  return { started: JSON.parse(line) as Started, child, outcome };
}

async function controlAt(url: string) {
  const { signal } = new AbortController();
  return (await connectControl(new URL(url), { env: {}, signal })).control;
}

const clientOf = ({ baseUrl, accounts }: Started) =>
  createClient({ baseUrl, apiKey: accounts[0]?.key ?? "" });

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 0],
] as const)("%s ends it with exit code %i, and everything is closed", async (name, exitCode) => {
  const db = join(tempFiles(), "emulator.db");
  const { started, child, outcome } = await startProcess("--db", db);
  expect(started.pid).toBe(child.pid);
  child.kill(name);
  expect(await outcome).toMatchObject({ exitCode, stderr: "" });
  await expect(fetch(started.url)).rejects.toThrow();
  expect(readdirSync(dirname(db))).toEqual(["emulator.db"]);
});

test.each([
  [[], true, { allowLoopbackHttp: true, signatureClock: "machine" }],
  [["signatureClock=service"], true, { allowLoopbackHttp: true, signatureClock: "service" }],
  [["allowLoopbackHttp=true"], false, { allowLoopbackHttp: true, signatureClock: "machine" }],
  [[], false, {}],
])(
  "receivers on this machine get its clock, unless the service's is asked for: %j, %s",
  async (...row) => {
    const [assigned, allowsLoopback, assumptions] = row;
    expect(await readAssumptions(assigned, allowsLoopback)).toEqual(assumptions);
  },
);

test("what it says on start can be typed as it stands", async () => {
  const { said } = await show();
  const [, lines = ""] = said.split("Try\n");
  // Its own flags for curl and npx: only what comes back is of interest.
  const typed = lines.replaceAll(/^ *\$ /gm, "");
  const own = `curl() { command curl -sS "$@" && echo; }\nnpx() { shift; '${process.execPath}' '${MAIN}' "$@" --json; }\n`;
  const { stdout } = await promisify(execFile)("sh", ["-c", own + typed]);
  const answers = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { items?: unknown[] });
  const firsts = answers.map((answer) => Object.keys(answer)[0]);
  expect(firsts).toEqual(["dataset", "dataset", ...Array<string>(25).fill("tool_id"), "now"]);
  expect(answers.slice(0, 2).map(({ items }) => items?.length)).toEqual([3, 3]);
});

test("with a file everything is there the next time, and the keys are not shown again", async () => {
  const db = join(tempFiles(), "emulator.db");
  const first = await start("--db", db, "--seed", "5");
  await first.stop();
  const second = await start("--db", db);
  expect(second.started.accounts).toEqual([]);
  const client = clientOf({ ...second.started, accounts: first.started.accounts });
  expect((await client.rankings({ limit: 1 })).items).toHaveLength(1);
  // The user has no other key.
  await (await controlAt(second.started.url)).reset();
  expect((await client.rankings({ limit: 1 })).items).toHaveLength(1);
  await second.stop();
  const third = await show(["--db", db]);
  expect(third.said).toContain("The dashboard makes new ones.");
  expect(third.said).not.toContain("mcpServers");
  await third.stop();
  const other = await callCli(["emulator", "--port", "0", "--db", db, "--seed", "6"]);
  expect([other.exitCode, other.stderr]).toEqual([2, expect.stringContaining("--seed")]);
});

test("its clock starts at --now, an assumption is applied, and on all addresses it prints one of this machine", async () => {
  const now = "2026-11-01T01:30:00.5+02:00";
  const { started } = await start("--now", now, "--assume", "firstSignalId=7", "--host", "0.0.0.0");
  expect(started.now.slice(0, 16)).toBe("2026-10-31T23:30");
  expect(started.accounts.map(({ tier }) => tier)).toEqual(["pro", "developer"]);
  const { url, baseUrl, mcpUrl, controlUrl } = started;
  const hosts = [url, baseUrl, mcpUrl, controlUrl].map((each) => new URL(each).hostname);
  expect(hosts).toEqual(Array(4).fill("127.0.0.1"));
  const { items } = await clientOf(started).rankings({ limit: 1 });
  const signal = { slug: items[0]?.slug ?? "", signal_type: "new_model" } as const;
  expect(await (await controlAt(url)).publishSignal(signal)).toMatchObject({ signal_id: 7 });
});

test("what it says on start, what happens while it runs, and a paused registration with what to type", async () => {
  const pausing = ["--assume", "pauseAfterFailures=1", "--seed", "1", "--now", "2026-11-01"];
  const { said, url, stop } = await show(["--allow-loopback-http", ...pausing]);
  const control = await controlAt(url);
  const apiKey = /KEY=(\S+)/.exec(said)?.[1] ?? "";
  const client = createClient({ baseUrl: `${url}/v1`, apiKey });
  const [product] = (await client.rankings({ limit: 1 })).items;
  const slug = product?.slug ?? "";
  const endpoint = await serveEndpoint((_request, response) => void response.writeHead(500).end());
  const hook = { url: `${endpoint.url}?token=hush`, signal_types: ["traffic_breakout" as const] };
  const { id } = await client.registerWebhook(hook);
  await control.settle();
  await control.follow({ account_id: 1, slugs: [slug] });
  await control.publishSignal({ signal_type: "traffic_breakout", slug });
  await control.settle();
  await control.advance({ seconds: 1 });
  const run = await stop();
  expect(run.stdout + run.stderr).not.toContain("hush");
  await expectGolden("emulator", run, [
    [/\bsbk_[\w-]+/g, "KEY"],
    [new RegExp(id, "g"), "REGISTRATION"],
    [/^\d\d:\d\d:\d\d/gm, "TIME"],
    [/again in \d+ s/g, "again in N s"],
    [/\d{4}-\d\d-\d\d \d\d:\d\d UTC/g, "TIME UTC"],
  ]);
});

test("when nothing reads its output any more, the next line ends it", async () => {
  const { started, child, outcome } = await startProcess();
  child.stdout?.destroy();
  await (await controlAt(started.url)).advance({ seconds: 1 });
  expect(await outcome).toMatchObject({ exitCode: 0, stderr: "" });
});

const TOKEN = "token_of_this_test";

test.each([
  ["--control-token", ["--control-token", TOKEN], {}],
  ["SIGNALS_CONTROL_TOKEN", [], { SIGNALS_CONTROL_TOKEN: TOKEN }],
])("with %s nobody else can read the signing secrets, and it is not printed", async (...row) => {
  const [, args, env] = row;
  const { url, stop } = await show(args, env);
  const statusWith = async (headers: Record<string, string>): Promise<number> =>
    (await fetch(`${url}/_emulator/clock`, { headers })).status;
  expect(await statusWith({})).toBe(401);
  expect(await statusWith({ Authorization: `Bearer ${TOKEN}` })).toBe(200);
  expect((await stop()).stdout).not.toMatch(new RegExp(`every user|${TOKEN}`));
});

test("what the user may not have meant is said at the start: a time that receivers refuse, an open address", async () => {
  const past = ["--now", "2026-03-04"];
  const { stderr } = await (await start(...past, "--host", "0.0.0.0")).stop();
  expect(stderr).toMatch(/^note: .*\d+ s behind this machine's.*--assume signatureClock=machine/m);
  expect(stderr).toMatch(/^note: other machines can connect to 0\.0\.0\.0/m);
  expect((await (await start(...past, "--allow-loopback-http")).stop()).stderr).toBe("");
});

test("--openapi prints the document and ends", async () => {
  const { exitCode, stdout } = await callCli(["emulator", "--openapi"]);
  const { openapi } = JSON.parse(stdout) as { openapi: string };
  expect([exitCode, openapi.slice(0, 3)]).toEqual([0, "3.1"]);
});

test("wrong usage says what to type", () => playGolden("emulator-wrong-usage"));
