import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { stripVTControlCharacters } from "node:util";
import { onTestFinished } from "vitest";
import { MAIN, SECRET } from "../run-cli.js";
import { watchText } from "../watch-text.js";

export const hasScript =
  spawnSync("script", ["--version"], { encoding: "utf8" }).stdout?.includes("util-linux") ?? false;

const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
export const ENTER = "\r";
export const UP = "\u001b[A";
export const DOWN = "\u001b[B";
export const CTRL_C = "\u0003";

export interface Session {
  /** Waits until this was shown, then types. */
  answer(shown: string, typed: string): Promise<void>;
  end: Promise<number | null>;
  /** Without control characters. */
  seen: () => string;
  raw: () => string;
}

/** Runs the command line with a terminal, which `script` of util-linux lends. */
export function onTerminal(
  args: readonly string[],
  {
    cwd = process.cwd(),
    size = "cols 100 rows 30",
    env = {},
  }: { cwd?: string; size?: string; env?: Record<string, string> } = {},
): Session {
  // It has no size of its own.
  const line = `stty ${size}; ${[process.execPath, MAIN, ...args].map(quote).join(" ")}`;
  const own = {
    PATH: process.env["PATH"],
    TERM: "xterm",
    HOME: process.env["HOME"],
    SIGNALS_SECRET: SECRET,
  };
  const child: ChildProcess = spawn("script", ["-qec", line, "/dev/null"], {
    cwd,
    env: { ...own, ...env },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const end = new Promise<number | null>((resolve) => child.once("close", resolve));
  const { add, text: raw, until } = watchText(end);
  child.stdout?.setEncoding("utf8").on("data", add);
  const seen = (): string => stripVTControlCharacters(raw());
  return {
    async answer(shown, typed) {
      await until(() => seen().includes(shown), shown);
      child.stdin?.write(typed);
    },
    end,
    seen,
    raw,
  };
}
