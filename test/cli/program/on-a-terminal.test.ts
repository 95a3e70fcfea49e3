import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { testWith } from "../../prerequisites.js";
import { tempFile, tempFiles } from "../temp-files.js";
import { CTRL_C, DOWN, ENTER, hasScript, onTerminal, UP } from "./on-terminal.js";

const testOnTerminal = testWith(hasScript);

const FILES_ONLY = ["--no-install", "--no-git"];

testOnTerminal("on a terminal it asks for what is not given", async () => {
  const folder = tempFiles();
  const { answer, end, seen } = onTerminal(["init", ...FILES_ONLY], { cwd: folder });
  await answer("Who sends", ENTER);
  await answer("which framework", `${DOWN}${ENTER}`);
  await answer("Which store", `${DOWN}${ENTER}`);
  await answer("Which folder", `trial${ENTER}`);
  expect(await end).toBe(0);
  expect(seen()).toContain("wrote the");
  expect(existsSync(join(folder, "trial", "src", "worker.ts"))).toBe(true);
  expect(readFileSync(join(folder, "trial", "src", "store.ts"), "utf8")).toContain("postgresStore");
});

testOnTerminal(
  "for another sender, as the last is your own, it offers no template of signals",
  async () => {
    const folder = tempFiles();
    const { answer, end, seen } = onTerminal(["init", ...FILES_ONLY], { cwd: folder });
    await answer("Who sends", `${UP}${ENTER}`);
    await answer("which framework", `${DOWN}${ENTER}`);
    await answer("Which store", ENTER);
    await answer("Which folder", `trial${ENTER}`);
    expect(await end).toBe(0);
    expect(seen()).not.toContain("bullmq");
    const read = (name: string) => readFileSync(join(folder, "trial", "src", name), "utf8");
    expect(read("main.ts")).toContain("sender: standardWebhooks()");
    expect(read("app.ts")).toContain("new Hono()");
  },
);

testOnTerminal("with --sender only the folder is asked for", async () => {
  const folder = tempFiles();
  const { answer, end } = onTerminal(["init", "--sender", "stripe", ...FILES_ONLY], {
    cwd: folder,
  });
  await answer("Which folder", ENTER);
  expect(await end).toBe(0);
  expect(existsSync(join(folder, "my-receiver", "src", "on-event.ts"))).toBe(true);
});

testOnTerminal("with --json it asks nothing", async () => {
  const { end, seen } = onTerminal(["init", "--json"], { cwd: tempFiles() });
  expect(await end).toBe(2);
  expect(seen()).toContain("name the new folder");
});

testOnTerminal("the questions can be read on a terminal without a size", async () => {
  const { answer, end } = onTerminal(["init", ...FILES_ONLY], {
    cwd: tempFiles(),
    size: "cols 0 rows 0",
  });
  await answer("Who sends the webhooks?", ENTER);
  await answer("bullmq: the same with a hand-off into BullMQ on Redis", CTRL_C);
  expect(await end).toBe(130);
});

testOnTerminal("a folder that is not empty is asked about, and no is the default", async () => {
  const folder = tempFiles({ "notes.txt": "mine" });
  const { answer, end, seen } = onTerminal(["init", ".", "--template", "express", ...FILES_ONLY], {
    cwd: folder,
  });
  await answer("is not empty", ENTER);
  expect(await end).toBe(2);
  expect(seen()).toContain("--force");
  expect(readdirSync(folder)).toEqual(["notes.txt"]);
});

testOnTerminal("Ctrl-C in a question is 130, and nothing is written", async () => {
  const folder = tempFiles();
  for (const given of [[], ["trial"]]) {
    const { answer, end, seen } = onTerminal(["init", ...given, ...FILES_ONLY], { cwd: folder });
    await answer("Wh", CTRL_C);
    expect(await end).toBe(130);
    expect(seen()).not.toContain("    at ");
    expect(readdirSync(folder)).toEqual([]);
  }
});

testOnTerminal("colour is for a terminal, and NO_COLOR turns it off", async () => {
  const shown = async (env: Record<string, string>): Promise<string> => {
    const { end, raw } = onTerminal(["verify", tempFile("{}"), "-H", "x"], { env });
    expect(await end).toBe(1);
    return raw();
  };
  expect(await shown({})).toContain("\u001b[31mnot valid\u001b[39m");
  expect(await shown({ NO_COLOR: "1" })).not.toContain("\u001b[");
  expect(await shown({ TERM: "dumb" })).not.toContain("\u001b[");
});

testOnTerminal.each([
  ["sign", "-"],
  ["verify", "-", "-H", "x"],
  ["send", "-", "--url", "http://127.0.0.1:1/"],
])("`-` does not wait for a user to type: %s", async (...args) => {
  const { end, seen } = onTerminal(args);
  expect(await end).toBe(2);
  expect(seen()).toContain(
    "`-` reads stdin, which is a terminal: pipe the body in, or name a file",
  );
});
