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
import { playGolden } from "../golden.js";
import { ndjson, outcomeOf, startCli } from "../run-cli.js";
import { tempFiles } from "../temp-files.js";
import { serveCli } from "./serve-cli.js";

// An emulator makes its data, on a machine that may be busy.
vi.setConfig({ testTimeout: 60_000 });

/** A receiver that reads this file. It listens when it is told to. */
async function makeReceiver(file: string) {
  const signals: Signal[] = [];
  const receiver = await startReceiver({
    secrets: secretFile(file),
    onSignal: (signal) => void signals.push(signal),
  });
  return { listener: nodeHandler(receiver), signals };
}

async function serve(listener: RequestListener, port = 0) {
  const server = createServer(listener).listen(port, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  return { server, port: (server.address() as AddressInfo).port };
}

function end(server: Server): Promise<unknown> {
  server.closeAllConnections();
  return once(server.close(), "close");
}

const urlAt = (port: number): string => `http://127.0.0.1:${port}/webhooks/signals`;
const dev = (...args: string[]) => serveCli(["dev", "--port", "0", ...args]);

test("both handshakes and a first signal that is handled, in each run; at the end a file without these secrets", async () => {
  const file = join(tempFiles({ "signals.secret": "whsec_of_the_user\n" }), "signals.secret");
  const { listener, signals } = await makeReceiver(file);
  const { port } = await serve(listener);
  // A receiver with an inbox takes no signal of the second run for a duplicate.
  for (const runs of [1, 2]) {
    const { printed, stop } = dev("--json", "--url", urlAt(port), "--secret-file", file);
    await printed('"event":"sent"');
    await vi.waitUntil(() => signals.length === runs);
    expect(readFileSync(file, "utf8").match(/^whsec_/gm)).toHaveLength(3);
    const run = await stop();
    expect([run.exitCode, run.stderr]).toEqual([0, ""]);
    const [first, ...events] = ndjson(run);
    expect(first).toMatchObject({ uiUrl: expect.stringMatching(/ui\/$/), pid: process.pid });
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
  const { server: free, port } = await serve(() => undefined);
  await end(free);
  const secrets = join(folder, "signals.secret");
  const { printed, stop } = dev("--url", urlAt(port), "--secret-file", secrets);
  await printed(`waiting for ${urlAt(port)}: start your receiver`);
  const other = await makeReceiver(join(folder, "other.secret"));
  const { server: wrong } = await serve(other.listener, port);
  await printed("refused webhook.verification → wh_1");
  await printed("not verified: 401");
  await end(wrong);
  const { listener, signals } = await makeReceiver(secrets);
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
/** As with `npm start`, the command is not the process that has to be stopped, and ends before it. */
const START = `import { spawn } from "node:child_process"; spawn(process.execPath, ["app.mjs"], { stdio: "inherit" });`;

// SIGHUP comes when the terminal is closed.
test.each(["SIGTERM", "SIGHUP"] as const)(
  "a command gets the address and a key, its output is not among the data, and %s stops it too",
  async (name) => {
    const cwd = tempFiles({ "app.mjs": APP, "start.mjs": START });
    const args = ["dev", "--json", "--port", "0", "--url", urlAt(1), "--"];
    const child = startCli([...args, process.execPath, "start.mjs"], { cwd });
    onTestFinished(() => void child.kill("SIGKILL"));
    child.stderr?.on("data", (text: string) => text.includes(" up") && child.kill(name));
    const { exitCode, lines, stderr } = await outcomeOf(child);
    expect([exitCode, lines.length]).toEqual([0, 1]);
    const { baseUrl } = JSON.parse(lines[0] ?? "") as { baseUrl: string };
    expect(stderr).toContain(`${baseUrl} 47 up\n`);
    expect(stderr).toContain("stopped\n");
  },
);

test.each([
  [[process.execPath, "-e", "console.log('out')"], "app │ out"],
  [[process.execPath, "-e", "process.exit(4)"], "ended: exit code 4"],
  [[process.execPath, "-e", "console.error('bad')"], "app │ bad"],
  [["no-such-command"], "there is no such command"],
])("the command's lines have a gutter, and its end ends dev with 1: %j", async (command, says) => {
  const run = await outcomeOf(
    startCli(["dev", "--port", "0", "--url", urlAt(1), "--", ...command]),
  );
  expect([run.exitCode, run.stdout + run.stderr]).toEqual([1, expect.stringContaining(says)]);
});

test("the usual port may be in use, a port that is asked for may not", async () => {
  // If this port is in use already, the case is the same.
  const server = createServer().on("error", () => undefined);
  server.listen(4010, "127.0.0.1");
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once("listening", resolve).once("error", resolve));
  const run = await callCli(["dev", "--url", urlAt(1), "--", process.execPath, "-e", ""]);
  expect(run.stdout).toMatch(/port 4010 is in use.*\n[^]*SIGNALS_BASE_URL=http:\S+:(?!4010)\d+\//);
  expect(await callCli(["dev", "--port", "4010"])).toMatchObject({ exitCode: 3 });
});

test("what cannot work is refused before anything is started", async () => {
  const taken = urlAt((await serve((_request, response) => void response.end())).port);
  const file = join(tempFiles({ "app.env": "KEY=value\n" }), "app.env");
  await playGolden("dev-refusals", { TAKEN: taken, FILE: file });
  expect(readFileSync(file, "utf8")).toBe("KEY=value\n");
});
