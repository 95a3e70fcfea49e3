import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { SECRET } from "../../run-cli.js";
import { listen } from "../../serve-requests.js";
import { tempFiles } from "../../temp-files.js";

const FOLDER = fileURLToPath(new URL("receivers/", import.meta.url));

export const LANGUAGES = {
  node: { command: process.execPath, file: "receiver.mjs" },
  python: { command: "python3", file: "receiver.py" },
} as const;

export type Language = keyof typeof LANGUAGES;

/** CI has all of them. */
export function isMissing(language: Language): boolean {
  if (process.env["CI"] !== undefined) return false;
  return spawnSync(LANGUAGES[language].command, ["--version"]).status !== 0;
}

export interface ProcessReceiver {
  url: string;
  /**
   * A shell command that ends the process, starts it anew on the same port, and returns when it
   * listens.
   */
  restartCommand: string;
  /** How often it was restarted. */
  restarts(): number;
}

/** A receiver in a process of its own, ended with the test. */
export async function serveProcess(language: Language, fault = ""): Promise<ProcessReceiver> {
  const journal = join(tempFiles(), "journal");
  let restarts = 0;
  let { child, port } = await start(language, { FAULT: fault, JOURNAL: journal, PORT: "0" });
  onTestFinished(() => stop(child));
  const control = await listen((_request, response) => {
    restarts += 1;
    void (async () => {
      await stop(child);
      ({ child, port } = await start(language, { FAULT: fault, JOURNAL: journal, PORT: port }));
      response.end("restarted");
    })();
  });
  return {
    url: `http://127.0.0.1:${port}/webhooks/signals`,
    restartCommand: `"${process.execPath}" -e 'fetch("${control}").then((answer) => answer.text())'`,
    restarts: () => restarts,
  };
}

async function start(
  language: Language,
  env: Record<string, string>,
): Promise<{ child: ChildProcess; port: string }> {
  const { command, file } = LANGUAGES[language];
  const child = spawn(command, [join(FOLDER, file)], {
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], SIGNALS_SECRET: SECRET, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit").then(([code]) =>
    Promise.reject(new Error(`${file} ended with ${String(code)}`)),
  );
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const [port] = (await Promise.race([once(lines, "line"), ended])) as [string];
  ended.catch(() => undefined);
  return { child, port };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}
