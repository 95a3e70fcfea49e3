import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { expect, onTestFinished } from "vitest";
import { MAIN } from "./run-cli.js";
import { tempFiles } from "./temp-files.js";
import { testWith } from "../prerequisites.js";

const hasScript = spawnSync("script", ["--version"], { encoding: "utf8" }).stdout?.includes("util-linux") ?? false;
const testOnTerminal = testWith(hasScript);

const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
const ENTER = "\r";
const DOWN = "\u001b[B";
const CTRL_C = "\u0003";

interface Session {
  /** Waits until this was shown, then types. */
  answer(shown: string, typed: string): Promise<void>;
  end: Promise<number | null>;
  seen: () => string;
}

/** Runs the command line with a terminal, which `script` of util-linux lends. */
function onTerminal(args: readonly string[], cwd: string, size = "cols 100 rows 30"): Session {
  // It has no size of its own.
  const line = `stty ${size}; ${[process.execPath, MAIN, ...args].map(quote).join(" ")}`;
  const env = { PATH: process.env["PATH"], TERM: "xterm", HOME: process.env["HOME"] };
  const child: ChildProcess = spawn("script", ["-qec", line, "/dev/null"], { cwd, env });
  onTestFinished(() => void child.kill("SIGKILL"));
  let seen = "";
  const end = new Promise<number | null>((resolve) => child.once("close", resolve));
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (seen += stripVTControlCharacters(text)));
  const isShown = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (seen.includes(text)) resolve();
      };
      child.stdout?.on("data", look);
      child.once("close", () => reject(new Error(`it ended without "${text}":\n${seen}`)));
      look();
    });
  return {
    async answer(shown, typed) {
      await isShown(shown);
      child.stdin?.write(typed);
    },
    end,
    seen: () => seen,
  };
}

const FILES_ONLY = ["--no-install", "--no-git"];

testOnTerminal("on a terminal it asks for what is not given", async () => {
  const folder = tempFiles();
  const { answer, end, seen } = onTerminal(["init", ...FILES_ONLY], folder);
  await answer("Which folder", `trial${ENTER}`);
  await answer("Which template", `${DOWN}${ENTER}`);
  expect(await end).toBe(0);
  expect(seen()).toContain("wrote the");
  expect(existsSync(join(folder, "trial", "src", "worker.ts"))).toBe(true);
});

testOnTerminal("the questions can be read on a terminal that tells no size", async () => {
  const { answer, end } = onTerminal(["init", ...FILES_ONLY], tempFiles(), "cols 0 rows 0");
  await answer("Which folder?", ENTER);
  await answer("bullmq: the same with a hand-off into BullMQ on Redis", CTRL_C);
  expect(await end).toBe(130);
});

testOnTerminal("what is given is not asked for", async () => {
  const folder = tempFiles();
  const { end, seen } = onTerminal(["init", "trial", "--template", "express", ...FILES_ONLY], folder);
  expect(await end).toBe(0);
  expect(seen()).not.toContain("Which");
});

testOnTerminal("a folder that is not empty is asked about, and no is the answer where nothing is said", async () => {
  const folder = tempFiles({ "notes.txt": "mine" });
  const { answer, end, seen } = onTerminal(["init", ".", "--template", "express", ...FILES_ONLY], folder);
  await answer("is not empty", ENTER);
  expect(await end).toBe(2);
  expect(seen()).toContain("--force");
  expect(readdirSync(folder)).toEqual(["notes.txt"]);
});

testOnTerminal("Ctrl-C in a question is 130, and nothing is written", async () => {
  const folder = tempFiles();
  for (const given of [[], ["trial"]]) {
    const { answer, end, seen } = onTerminal(["init", ...given, ...FILES_ONLY], folder);
    await answer("Which", CTRL_C);
    expect(await end).toBe(130);
    expect(seen()).not.toContain("    at ");
    expect(readdirSync(folder)).toEqual([]);
  }
});

testOnTerminal("a file is no folder, which is said at once; and each template is explained", async () => {
  const folder = tempFiles({ "a-file": "" });
  const { answer, end, seen } = onTerminal(["init", ...FILES_ONLY], folder);
  await answer("Which folder", `a-file${ENTER}`);
  await answer("is a file", CTRL_C);
  expect(await end).toBe(130);
  expect(seen()).not.toContain("Which template");

  const another = onTerminal(["init", ...FILES_ONLY], folder);
  await another.answer("Which folder", `trial${ENTER}`);
  await another.answer("bullmq: the same with a hand-off", CTRL_C);
  expect(await another.end).toBe(130);
  expect(another.seen()).toMatch(/express: a new receiver[^]*add-on: new files/);
  expect(readdirSync(folder)).toEqual(["a-file"]);
});
