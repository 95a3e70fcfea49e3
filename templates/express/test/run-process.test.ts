import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createReceiver } from "signalbox";
import { sqliteStore } from "signalbox/stores/sqlite";
import { expect, onTestFinished, test } from "vitest";
import { SECRET } from "./serve-app.js";

function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "receiver-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs the receiver, which has to fail: what it prints for a person, and the last line of its log. Ended if it does start. */
async function failingRun(env: NodeJS.ProcessEnv): Promise<{ said: string; logged: unknown }> {
  const options = {
    env: { ...process.env, SIGNALS_SECRET: SECRET, PORT: "0", LOG_LEVEL: "", ...env },
    timeout: 50_000,
  };
  const running = promisify(execFile)(process.execPath, ["--import", "tsx", "src/main.ts"], options);
  const failure: unknown = await running.catch((error: unknown) => error);
  const { code, stdout, stderr } = failure as { code: number; stdout: string; stderr: string };
  expect(code).toBe(1);
  return { said: stderr, logged: JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "") };
}

const logOf = (message: string): object => ({
  level: 60,
  msg: "the process failed",
  err: { message: expect.stringContaining(message) as string },
});

// Each starts a process, on a machine that may be busy.
const timeout = 60_000;

test("a mistake in the environment is printed for a person, and logged", { timeout }, async () => {
  const { said, logged } = await failingRun({ SIGNALS_SECRET: "" });
  const message = "SIGNALS_SECRET is not set: set it to the signing secret of your webhook";
  expect(said).toBe(`error: The environment has mistakes (see .env.example):\n  ${message}\n`);
  expect(logged).toMatchObject(logOf(message));
});

test("a port that is in use is printed for a person, and logged", { timeout }, async () => {
  const server = createServer().listen(0);
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const PORT = String((server.address() as AddressInfo).port);
  const { said, logged } = await failingRun({ PORT, INBOX_PATH: join(tempFolder(), "signals.db") });
  const message = `port ${PORT} is in use: end the program that uses it, or set PORT to another port`;
  expect(said).toBe(`error: ${message}\n`);
  expect(logged).toMatchObject(logOf(message));
});

test("an inbox that another process has is printed for a person, and logged", { timeout }, async () => {
  const INBOX_PATH = join(tempFolder(), "signals.db");
  const store = sqliteStore(INBOX_PATH);
  const owner = createReceiver({ secrets: SECRET, store, onSignal: () => undefined, logger: false });
  await owner.start();
  onTestFinished(() => owner.close());
  const { said, logged } = await failingRun({ INBOX_PATH });
  expect(said).toMatch(/^error: .*signals\.db.*\n$/);
  expect(logged).toMatchObject({ level: 60, err: { code: "store_in_use" } });
});
