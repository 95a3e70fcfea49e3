import { execFile, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { readAssumptions } from "../../../src/cli/service/emulator/emulator-command.js";
import { serveEndpoint } from "../../unit/service/emulator/webhooks/webhook-world.js";
import { callCli } from "../call-cli.js";
import { expectGolden, transcriptOf } from "../golden.js";
import { MAIN, outcomeOf, startCli, type CliRun } from "../run-cli.js";
import { tempFiles } from "../temp-files.js";

interface Started {
  pid: number;
  url: string;
  baseUrl: string;
  mcpUrl: string;
  controlUrl: string;
  now: string;
  accounts: { name: string; tier: string; key: string }[];
}

/** Starts it in this process and waits until its start is printed. It ends with the test. */
async function showWith(
  env: Record<string, string>,
  ...args: string[]
): Promise<{ printed: () => string; stop(): Promise<CliRun> }> {
  const controller = new AbortController();
  let printed = "";
  let outcome: Promise<CliRun> | null = null;
  const stop = async (): Promise<CliRun> => {
    controller.abort();
    return (await outcome) as CliRun;
  };
  onTestFinished(async () => void (await stop()));
  await new Promise<void>((resolve, reject) => {
    const onOutput = (text: string): void => {
      printed += text;
      if (/"pid".*\n|advance --months.*\n/.test(printed)) resolve();
    };
    outcome = callCli(["emulator", "--port", "0", ...args], {
      env,
      signal: controller.signal,
      onOutput,
    });
    void outcome.then(({ stderr }) => reject(new Error(stderr)));
  });
  return { printed: () => printed, stop };
}

const show = (...args: string[]): ReturnType<typeof showWith> => showWith({}, ...args);

async function start(...args: string[]): Promise<{ started: Started; stop(): Promise<CliRun> }> {
  const { printed, stop } = await show("--json", ...args);
  return { started: JSON.parse(printed()) as Started, stop };
}

/** The same as a process. */
async function startProcess(
  ...args: string[]
): Promise<{ started: Started; child: ChildProcess; outcome: Promise<CliRun> }> {
  const child = startCli(["emulator", "--port", "0", "--json", ...args]);
  onTestFinished(() => void child.kill("SIGKILL"));
  const outcome = outcomeOf(child);
  if (child.stdout === null) throw new Error("no stdout");
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  return { started: JSON.parse(line) as Started, child, outcome };
}

const ask = (url: string, key: string): Promise<Response> =>
  fetch(url, { headers: { Authorization: `Bearer ${key}` } });

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

test("a receiver on this machine gets what is signed by its clock, unless the service's is asked for", async () => {
  expect(await readAssumptions([], true)).toEqual({
    allowLoopbackHttp: true,
    signatureClock: "machine",
  });
  expect(await readAssumptions(["signatureClock=service"], true)).toMatchObject({
    signatureClock: "service",
  });
  expect(await readAssumptions(["allowLoopbackHttp=true"], false)).toMatchObject({
    signatureClock: "machine",
  });
  expect(await readAssumptions([], false)).toEqual({});
  await expect(readAssumptions(["signatureClock=x"], true)).rejects.toThrow("signatureClock");
});

test("what it says on start can be typed as it stands", async () => {
  const { printed } = await show();
  const [, lines = ""] = printed().split("Try\n");
  // Its own flags for curl and npx: only what comes back is of interest.
  const typed = lines.replaceAll(/^ *\$ /gm, "");
  const own = `curl() { command curl -sS "$@" && echo; }\nnpx() { shift; '${process.execPath}' '${MAIN}' "$@" --json; }\n`;
  const { stdout } = await promisify(execFile)("sh", ["-c", own + typed]);
  const parsed = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(parsed.slice(0, 2).map((answer) => Object.keys(answer)[0])).toEqual([
    "dataset",
    "dataset",
  ]);
  expect(parsed.slice(0, 2).every(({ items }) => (items as unknown[]).length === 3)).toBe(true);
  expect(parsed.slice(2).map((answer) => Object.keys(answer)[0])).toEqual([
    ...Array<string>(25).fill("tool_id"),
    "now",
  ]);
});

test("with a file everything is there the next time, and the keys are not shown again", async () => {
  const db = join(tempFiles(), "emulator.db");
  const first = await start("--db", db, "--seed", "5");
  const key = first.started.accounts[0]?.key ?? "";
  await first.stop();
  const second = await start("--db", db);
  expect(second.started.accounts).toEqual([]);
  expect((await ask(`${second.started.baseUrl}/research/rankings?limit=1`, key)).status).toBe(200);
  // The user has no other key.
  await fetch(`${second.started.url}/_emulator/reset`, { method: "POST" });
  expect((await ask(`${second.started.baseUrl}/research/rankings?limit=1`, key)).status).toBe(200);
  await second.stop();
  const third = await show("--db", db);
  expect(third.printed()).toContain("The dashboard makes new ones.");
  expect(third.printed()).not.toContain("mcpServers");
  await third.stop();
  const other = await callCli(["emulator", "--port", "0", "--db", db, "--seed", "6"]);
  expect([other.exitCode, other.stderr]).toEqual([2, expect.stringContaining("--seed")]);
});

test("its clock starts at --now, an assumption is applied, and on all addresses it prints one of this machine", async () => {
  const args = [
    "--now",
    "2026-11-01T01:30:00.5+02:00",
    "--assume",
    "firstSignalId=7",
    "--host",
    "0.0.0.0",
  ];
  const { started } = await start(...args);
  const { url, baseUrl, mcpUrl, controlUrl, now, accounts } = started;
  expect(now.slice(0, 16)).toBe("2026-10-31T23:30");
  expect(accounts.map(({ tier }) => tier)).toEqual(["pro", "developer"]);
  for (const address of [url, baseUrl, mcpUrl, controlUrl])
    expect(new URL(address).hostname).toBe("127.0.0.1");
  const ranked = await ask(`${baseUrl}/research/rankings?limit=1`, accounts[1]?.key ?? "");
  const { items } = (await ranked.json()) as { items: { slug: string }[] };
  const signal = `slug=${items[0]?.slug ?? ""}&signal_type=new_model`;
  expect(await post(`${url}/_emulator/signals?${signal}`)).toMatchObject({ signal_id: 7 });
});

const post = async (url: string, body?: object, key?: string): Promise<Record<string, unknown>> => {
  const headers = {
    ...(body !== undefined && { "Content-Type": "application/json" }),
    ...(key !== undefined && { Authorization: `Bearer ${key}` }),
  };
  const response = await fetch(url, {
    method: "POST",
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return (await response.json()) as Record<string, unknown>;
};

/** Has a registration whose receiver answers 500 to a signal, which pauses it. */
async function pauseOne({
  url,
  baseUrl,
  accounts,
}: Pick<Started, "url" | "baseUrl" | "accounts">): Promise<string> {
  const key = accounts[0]?.key ?? "";
  const ranked = (await (await ask(`${baseUrl}/research/rankings?limit=1`, key)).json()) as {
    items: { slug: string }[];
  };
  const slug = ranked.items[0]?.slug ?? "";
  const endpoint = await serveEndpoint((_request, response) => void response.writeHead(500).end());
  const hook = { url: `${endpoint.url}?token=hush`, signal_types: ["traffic_breakout"] };
  const { id } = await post(`${baseUrl}/alerts/webhooks`, hook, key);
  await post(`${url}/_emulator/clock/settle`);
  await post(`${url}/_emulator/accounts/1/follows?slugs=${slug}`);
  await post(`${url}/_emulator/signals?signal_type=traffic_breakout&slug=${slug}`);
  await post(`${url}/_emulator/clock/settle`);
  return String(id);
}

test("what it says on start, what happens while it runs, and a paused registration with what to type", async () => {
  const { printed, stop } = await show(
    "--allow-loopback-http",
    "--assume",
    "pauseAfterFailures=1",
    "--seed",
    "1",
    "--now",
    "2026-11-01",
  );
  const url = /Control +(\S+)\/_emulator/.exec(printed())?.[1] ?? "";
  const key = /KEY=(\S+)/.exec(printed())?.[1] ?? "";
  const id = await pauseOne({ url, baseUrl: `${url}/v1`, accounts: [{ name: "", tier: "", key }] });
  await post(`${url}/_emulator/clock/advance?seconds=1`);
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
  expect(await post(`${started.url}/_emulator/clock/advance?seconds=1`)).toHaveProperty("now");
  expect(await outcome).toMatchObject({ exitCode: 0, stderr: "" });
});

const TOKEN = "token_of_this_test";

test("with a control token nobody else can read the signing secrets, and it is not printed", async () => {
  for (const closed of [
    await show("--control-token", TOKEN),
    await showWith({ SIGNALS_CONTROL_TOKEN: TOKEN }),
  ]) {
    const url = /Control +(\S+)/.exec(closed.printed())?.[1] ?? "";
    expect((await fetch(`${url}/clock`)).status).toBe(401);
    expect((await ask(`${url}/clock`, TOKEN)).status).toBe(200);
    const { stdout } = await closed.stop();
    expect(stdout).not.toContain("every user");
    expect(stdout).not.toContain(TOKEN);
  }
});

test("what the user may not have meant is said at the start: a time that receivers refuse, an open address", async () => {
  const past = await start("--now", "2026-03-04", "--host", "0.0.0.0");
  const { stderr } = await past.stop();
  expect(stderr).toMatch(/^note: .*\d+ s behind this machine's.*--assume signatureClock=machine/m);
  expect(stderr).toMatch(/^note: other machines can connect to 0\.0\.0\.0/m);
  const signedNow = await start("--now", "2026-03-04", "--allow-loopback-http");
  expect((await signedNow.stop()).stderr).toBe("");
});

test("--openapi prints the document and ends", async () => {
  const { exitCode, stdout } = await callCli(["emulator", "--openapi"]);
  expect(exitCode).toBe(0);
  expect((JSON.parse(stdout) as { openapi: string }).openapi).toMatch(/^3\.1/);
});

test("wrong usage says what to type", async () => {
  const wrong = [
    "--now=2026-02-30",
    "--assume=signatureClock",
    "--assume=signatureClok=machine",
    "--assume=signatureClock=none",
    "--control-token=short",
    "publsh",
  ];
  await expectGolden(
    "emulator-wrong-usage",
    await transcriptOf(wrong.map((word) => ({ args: ["emulator", word] }))),
  );
});
