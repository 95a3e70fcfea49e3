import { spawn, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";

/** `npm test` builds it first. */
export const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
export const SECRET = "whsec_command_line_3f9c";

export interface CliRun {
  exitCode: number | null;
  stdout: string;
  stderr: string;
  /** The lines of stdout. */
  lines: string[];
}

export interface CliOptions {
  /** @default nothing, and at its end */
  input?: string | Uint8Array;
  env?: Record<string, string>;
  cwd?: string;
}

export function startCli(
  args: readonly string[],
  { input = "", env = {}, cwd }: CliOptions = {},
): ChildProcess {
  const child = spawn(process.execPath, [MAIN, ...args], {
    // Without the developer's environment: no SIGNALS_SECRET, no NO_COLOR.
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...env },
    ...(cwd !== undefined && { cwd }),
  });
  child.stdin?.on("error", () => undefined);
  child.stdin?.end(input);
  return child;
}

export function outcomeOf(child: ChildProcess): Promise<CliRun> {
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (exitCode) => {
      resolve({
        exitCode,
        stdout,
        stderr,
        lines: stdout.split("\n").filter((line) => line !== ""),
      });
    });
  });
}

/** Runs the built command line to its end. */
export function runCli(args: readonly string[], options?: CliOptions): Promise<CliRun> {
  return outcomeOf(startCli(args, options));
}

/** With the secret that the tests' receivers know. */
export function runWithSecret(args: readonly string[], options: CliOptions = {}): Promise<CliRun> {
  return runCli(args, { ...options, env: { SIGNALS_SECRET: SECRET, ...options.env } });
}

/** The NDJSON without the summary, which is the last line. */
export function rowsOf<Row = Record<string, unknown>>(run: CliRun): Row[] {
  const lines = ndjson<Row & object>(run);
  expect(lines.at(-1)).toHaveProperty("summary.ok", run.exitCode === 0);
  return lines.slice(0, -1);
}

export function ndjson<Row = Record<string, unknown>>({ lines }: CliRun): Row[] {
  return lines.map((line) => JSON.parse(line) as Row);
}
