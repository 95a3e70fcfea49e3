import { once } from "node:events";
import { appendFileSync, readFileSync } from "node:fs";
import { createServer, request, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { run, start } from "./commands.js";
import { compiledDriver, scaffoldByNpx } from "./scaffold.js";

const MINUTES = 60_000;

let project = "";
// As a user types it, with its scripts.
beforeAll(async () => {
  project = await scaffoldByNpx("express");
  const { stdout, stderr } = await run(project, "npm", ["install"], compiledDriver(project));
  expect(`${stdout}${stderr}`).not.toMatch(/allowScripts|allow-scripts/);
}, 20 * MINUTES);

async function startReceiver() {
  const receiver = start(project, "npm", ["start"], { PORT: "0" });
  const [line = ""] = await receiver.linesWith(/listening on /);
  const [url = ""] = /http:\/\/[^"\s]+/.exec(line) ?? [];
  return { receiver, url };
}

test(
  "express: what init writes depends on the tarball, and its types, lint and tests are clean",
  { timeout: 5 * MINUTES },
  async () => {
    const manifest = JSON.parse(readFileSync(join(project, "package.json"), "utf8")) as {
      dependencies: Record<string, string>;
    };
    expect(manifest.dependencies["signalbox"]).toMatch(/^file:\.\.\/signalbox-.*\.tgz$/);
    expect((await run(project, "npm", ["test"])).stdout).toMatch(/Tests\s+\d+ passed/);
    await run(project, "npm", ["run", "typecheck"]);
    await run(project, "npm", ["run", "lint"]);
  },
);

test(
  "express: start, replay, register at an emulator, and an end that answers what is open",
  { timeout: 5 * MINUTES },
  async () => {
    const { receiver, url } = await startReceiver();
    const replay = await run(project, "npm", ["run", "replay", "--", "--url", url]);
    expect(replay.stdout).toMatch(/^all \d+ answers as expected/m);
    const handled = Number(/onSignal: (\d+)$/m.exec(replay.stderr)?.[1]);
    expect(handled).toBeGreaterThan(38);
    await receiver.linesWith(/"team":/, handled);

    const emulator = start(project, "npx", ["signalbox", "emulator", "--port", "0", "--allow-loopback-http", "--json"]);
    const [started = ""] = await emulator.linesWith(/"accounts"/);
    const { baseUrl, accounts } = JSON.parse(started) as { baseUrl: string; accounts: { key: string }[] };
    appendFileSync(join(project, ".env"), `SIGNALS_BASE_URL=${baseUrl}\nSIGNALS_API_KEY=${accounts[0]?.key}\n`);
    const registered = await run(project, "npm", ["run", "register", "--", "--url", url]);
    expect(registered.stdout).toMatch(/all 2 registrations are active/);
    await emulator.stop();
    expect((await run(project, "git", ["status", "--porcelain"])).stdout).toBe("?? package-lock.json\n");

    // The rest of this request comes after SIGTERM.
    const open = request(new URL(url), { method: "POST", headers: { "Content-Length": 2, Expect: "100-continue" } });
    open.flushHeaders();
    await once(open, "continue");
    const answered = once(open, "response") as Promise<[IncomingMessage]>;
    const closing = receiver.linesWith(/SIGTERM: closing/);
    const stopped = receiver.stop();
    await closing;
    open.end("{}");
    const [{ statusCode }] = await answered;
    expect(statusCode).toBe(401);
    await stopped;
    await expect(fetch(new URL("/healthz", url))).rejects.toThrow();
  },
);

test(
  "express: npm run dev registers the receiver at the PORT of .env, and the first signal is handled",
  { timeout: 5 * MINUTES },
  async () => {
    const other = createServer().listen(0);
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    await new Promise((resolve) => other.close(resolve));
    appendFileSync(join(project, ".env"), `PORT=${port}\n`);
    const dev = start(project, "npm", ["run", "dev"]);
    await dev.linesWith(/verified/, 2);
    await dev.linesWith(/"team":"pricing"/);
    await dev.stop();
    expect((await run(project, "git", ["status", "--porcelain"])).stdout).toBe("?? package-lock.json\n");
  },
);

test(
  "express: a mistake in the environment, and a port that is in use, end it with a line that says what to do",
  async () => {
    const other = createServer().listen(0);
    onTestFinished(() => void other.close());
    await once(other, "listening");
    const PORT = String((other.address() as AddressInfo).port);
    const inUse = /port \d+ is in use: end the program that uses it, or set PORT to another port/;
    await expect(run(project, "npm", ["start"], { PORT })).rejects.toThrow(inUse);
    // Built by now.
    const mistaken = run(project, "node", ["dist/main.js"], { PORT: "70000" });
    await expect(mistaken).rejects.toThrow(/PORT must be a whole number from 0 to 65535/);
  },
  MINUTES,
);
