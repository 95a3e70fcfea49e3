import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { secretFile, type Signal } from "../../../src/kit/index.js";
import { nodeHandler } from "../../../src/kit/receiver/adapters/node-handler.js";
import { startReceiver } from "../../http/serve.js";
import { callCli } from "../call-cli.js";
import { ndjson, outcomeOf, startCli, type CliRun } from "../run-cli.js";
import { tempFiles } from "../temp-files.js";

// An emulator makes its data, on a machine that may be busy.
vi.setConfig({ testTimeout: 60_000 });

/** A receiver that reads this file. It listens when it is told to. */
async function makeReceiver(
  file: string,
): Promise<{ listener: RequestListener; signals: Signal[] }> {
  const signals: Signal[] = [];
  const receiver = await startReceiver({
    secrets: secretFile(file),
    onSignal: (signal) => void signals.push(signal),
  });
  return { listener: nodeHandler(receiver), signals };
}

async function serve(listener: RequestListener, port = 0): Promise<Server> {
  const server = createServer(listener).listen(port, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  return server;
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;
const urlAt = (port: number): string => `http://127.0.0.1:${port}/webhooks/signals`;

interface Running {
  /** Resolves when this was printed on stdout. */
  printed(words: string): Promise<void>;
  stop(): Promise<CliRun>;
}

/** Runs `dev` in this process, until it is stopped or the test ends. */
function dev(...args: string[]): Running {
  const controller = new AbortController();
  const waiting = new Set<() => void>();
  let text = "";
  const onOutput = (piece: string): void => {
    text += piece;
    for (const look of waiting) look();
  };
  const outcome = callCli(["dev", "--port", "0", ...args], { signal: controller.signal, onOutput });
  const stop = (): Promise<CliRun> => {
    controller.abort(new DOMException("SIGTERM", "AbortError"));
    return outcome;
  };
  onTestFinished(async () => void (await stop()));
  const printed = (words: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (text.includes(words)) resolve();
      };
      waiting.add(look);
      look();
      void outcome.then(({ stderr }) =>
        reject(new Error(`it ended without "${words}":\n${text}\n${stderr}`)),
      );
    });
  return { printed, stop };
}

test("both handshakes and a first signal that is handled, in each run; at the end a file without these secrets", async () => {
  const file = join(tempFiles({ "signals.secret": "whsec_of_the_user\n" }), "signals.secret");
  const { listener, signals } = await makeReceiver(file);
  const url = urlAt(portOf(await serve(listener)));
  // A receiver with an inbox takes no signal of the second run for a duplicate.
  for (const runs of [1, 2]) {
    const { printed, stop } = dev("--json", "--url", url, "--secret-file", file);
    await printed('"event":"sent"');
    await vi.waitUntil(() => signals.length === runs);
    expect(readFileSync(file, "utf8").match(/^whsec_/gm)).toHaveLength(3);
    const run = await stop();
    expect([run.exitCode, run.stderr]).toEqual([0, ""]);
    const [first, ...events] = ndjson(run);
    const uiUrl = expect.stringMatching(/\/_emulator\/ui\/$/);
    expect(first).toMatchObject({ uiUrl, pid: process.pid });
    const names = events.map(({ event }) => String(event));
    const handshakes = ["registered", "registered", "verified", "verified"];
    expect(names.slice(0, 4).toSorted()).toEqual(handshakes);
    expect(names.slice(4)).toEqual(["published", "sent"]);
    const types = events.map(({ signal_types = 0 }) => Number(signal_types));
    expect(types.reduce((sum, n) => sum + n)).toBe(38);
    expect(readFileSync(file, "utf8")).toBe("whsec_of_the_user\n");
  }
});

test("it waits for a receiver, says why one is not verified, and goes on when that is fixed", async () => {
  const folder = tempFiles({ "other.secret": "whsec_another\n" });
  const free = await serve(() => undefined);
  const port = portOf(free);
  await new Promise((resolve) => free.close(resolve));
  const { printed, stop } = dev(
    "--url",
    urlAt(port),
    "--secret-file",
    join(folder, "signals.secret"),
  );
  await printed(`waiting for ${urlAt(port)}: start your receiver`);
  const other = await makeReceiver(join(folder, "other.secret"));
  const wrong = await serve(other.listener, port);
  await printed("refused webhook.verification → wh_1");
  await printed("not verified: 401");
  wrong.closeAllConnections();
  await new Promise((resolve) => wrong.close(resolve));
  const { listener, signals } = await makeReceiver(join(folder, "signals.secret"));
  await serve(listener, port);
  await printed("verified wh_1");
  await printed("verified wh_2");
  await printed("published price_increased ");
  await vi.waitUntil(() => signals.length === 1);
  const { stdout } = await stop();
  expect(stdout).toMatch(/^ +\$ export SIGNALS_BASE_URL=\S+ SIGNALS_API_KEY=sbk_\S+$/m);
  expect(stdout).toMatch(/^ +MCP +http:\S+\/mcp$/m);
  expect(stdout).toContain('secretFile("');
  expect(stdout).not.toContain("whsec_");
});

/** A process that says that it runs, and with which variables. */
const APP = `process.on("SIGTERM", () => { console.log("stopped"); process.exit(); });
setInterval(() => {}, 1000);
console.log(process.env.SIGNALS_BASE_URL, process.env.SIGNALS_API_KEY.length, "up");`;

// SIGHUP comes when the terminal is closed.
test.each(["SIGTERM", "SIGHUP"] as const)(
  "a command gets the address and a key, its output is not among the data, and %s stops it too",
  async (name) => {
    // As with `npm start`, the command is not the process that has to be stopped, and ends before
    // it.
    const command = `import { spawn } from "node:child_process"; spawn(process.execPath, ["app.mjs"], { stdio: "inherit" });`;
    const folder = tempFiles({ "app.mjs": APP, "start.mjs": command });
    const child = startCli(
      ["dev", "--json", "--port", "0", "--url", urlAt(1), "--", process.execPath, "start.mjs"],
      {
        cwd: folder,
      },
    );
    onTestFinished(() => void child.kill("SIGKILL"));
    const outcome = outcomeOf(child);
    await new Promise<void>((resolve) => {
      child.stderr?.on("data", (text: string) => text.includes(" up") && resolve());
    });
    child.kill(name);
    const { exitCode, lines, stderr } = await outcome;
    expect(exitCode).toBe(0);
    const { baseUrl } = JSON.parse(lines[0] ?? "") as { baseUrl: string };
    expect(lines).toHaveLength(1);
    expect(stderr).toContain(`${baseUrl} 47 up\n`);
    expect(stderr).toContain("stopped\n");
  },
);

test.each([
  [[process.execPath, "-e", "process.exit(4)"], "ended: exit code 4"],
  [["no-such-command"], "there is no such command"],
])("when the command ends, dev says so and ends with 1: %j", async (command, says) => {
  const run = await callCli(["dev", "--port", "0", "--url", urlAt(1), "--", ...command]);
  expect([run.exitCode, run.stdout]).toEqual([1, expect.stringContaining(says)]);
});

test("the usual port may be in use, a port that is asked for may not", async () => {
  // If this port is in use already, the case is the same.
  const server = createServer().on("error", () => undefined);
  server.listen(4010, "127.0.0.1");
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once("listening", resolve).once("error", resolve));
  const run = await callCli(["dev", "--url", urlAt(1), "--", process.execPath, "-e", ""]);
  expect(run.stdout).toMatch(
    /port 4010 is in use.*\n[^]*SIGNALS_BASE_URL=http:\/\/127\.0\.0\.1:(?!4010)\d+\/v1/,
  );
  expect(await callCli(["dev", "--port", "4010"])).toMatchObject({ exitCode: 3 });
});

test("what cannot work is refused before anything is started", async () => {
  const taken = urlAt(portOf(await serve((_request, response) => void response.end())));
  const file = join(tempFiles({ "app.env": "KEY=value\n" }), "app.env");
  const start = ["--", process.execPath, "-e", ""];
  const rows: readonly (readonly [args: string[], exitCode: number, says: string])[] = [
    [["--url", "localhost:3000"], 2, "Expected an address"],
    [[], 2, "PORT is 70000, which is not a port: give --url"],
    [["--url", "http://example.com/hooks"], 2, "--url: must be an HTTPS endpoint"],
    [["--url", taken, "--secret-file", file], 3, "is not a secret"],
    [["--url", taken, ...start], 3, `listens on ${new URL(taken).host}`],
  ];
  for (const [args, exitCode, says] of rows) {
    const run = await callCli(["dev", ...args], { env: { PORT: "70000" } });
    const stderr = expect.stringContaining(says);
    expect(run).toMatchObject({ exitCode, stdout: "", stderr });
  }
  expect(readFileSync(file, "utf8")).toBe("KEY=value\n");
});
