import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { format } from "prettier";
import { expect, test, vi } from "vitest";
import { install } from "../package/installed.js";
import { start } from "./commands.js";

// Compilers and servers, on a machine that may be busy.
vi.setConfig({ testTimeout: 180_000 });

/** The app of a user: its files and packages, and how it is built, tested and started. */
interface App {
  name: string;
  files: Record<string, string>;
  packages: Record<string, string>;
  build: string[][];
  test: string[];
  start: string[];
  /** The file with the line that makes the app. */
  created: string;
  startedIn: string;
}

const SIGNALBOX = "node_modules/signalbox/dist/cli/main.js";
const APPS = JSON.parse(readFileSync(join(import.meta.dirname, "apps.json"), "utf8")) as App[];

interface Made {
  files: string[];
  edits: { place: { line: number } | null; lines: string[] }[];
}

/** Runs `init` in the folder of an app. What it writes is formatted, whatever the width of the app's lines. */
async function addOn(folder: string, ...args: string[]) {
  const node = (...words: string[]) =>
    promisify(execFile)(process.execPath, words, { cwd: folder });
  const init = [SIGNALBOX, "init", ".", "--template", "add-on", "--json", ...args];
  const { files, edits } = JSON.parse((await node(...init)).stdout) as Made;
  for (const path of files) {
    const content = readFileSync(join(folder, path), "utf8");
    for (const printWidth of [80, 120])
      expect(await format(content, { filepath: path, printWidth })).toBe(content);
  }
  return { node, edits };
}

test.each(APPS)("what is written and printed works in an app: $name", async (app) => {
  const folder = install(app.packages);
  for (const [path, content] of Object.entries(app.files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  const { node, edits } = await addOn(folder);

  // As a developer does it by hand: the mount where it says, the start where the app listens, the
  // end in its own function.
  const [imported, mount, started, closed] = edits.map(({ lines }) => lines.join("\n"));
  const edit = (path: string, change: (text: string) => string): void =>
    writeFileSync(join(folder, path), change(readFileSync(join(folder, path), "utf8")));
  edit(app.created, (text) =>
    text
      .split("\n")
      .toSpliced(edits[1]?.place?.line ?? 0, 0, mount ?? "")
      .join("\n"),
  );
  edit(app.created, (text) => text.replace(/^.*["']express["'].*$/m, `$&\n${imported}`));
  if (app.startedIn !== app.created) edit(app.startedIn, (text) => `${imported}\n${text}`);
  edit(app.startedIn, (text) => text.replace(/^const server/m, `${started}\n$&`));
  if (closed?.includes("process.once") === true)
    edit(app.startedIn, (text) => `${text}${closed}\n`);
  else edit(app.startedIn, (text) => text.replace("server.close();", `$&\n${closed}`));

  for (const build of app.build) await node(...build);
  expect((await node(...app.test)).stdout).toContain("a signed signal is handed to onSignal, once");
  writeFileSync(join(folder, "signals.secret"), "whsec_of_this_test\n");
  const server = start(folder, process.execPath, app.start, { PORT: "0" });
  const [line = ""] = await server.linesWith(/^listening/);
  const { port } = JSON.parse(line.slice("listening ".length)) as { port: number };
  await server.linesWith(/receiver started/);
  const url = `http://127.0.0.1:${port}`;
  const sent = await node(SIGNALBOX, "send", "price_increased", "--url", `${url}/webhooks/signals`);
  expect(sent.stdout).toContain("200");
  await server.linesWith(/"signalType":"price_increased"/);
  // The parser of the app still works for the rest of it.
  const headers = { "Content-Type": "application/json" };
  const greeted = await fetch(`${url}/greetings`, {
    method: "POST",
    headers,
    body: '{"name":"Ada"}',
  });
  expect(await greeted.json()).toEqual({ greeting: "Hello, Ada" });
  expect(await server.stop()).toBe(0);
  const inbox = await node(SIGNALBOX, "inbox", "stats", "--db", "signals.db", "--json");
  expect(JSON.parse(inbox.stdout)).toMatchObject({ done: 1 });
});

test("--sender github: the written files are formatted, and the written test passes", async () => {
  const folder = install({ express: "express" });
  const app = 'import express from "express";\n\nexport const app = express();\n';
  const dependencies = { express: "^5" };
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module", dependencies }));
  writeFileSync(join(folder, "app.js"), app);
  const { node } = await addOn(folder, "--sender", "github");
  expect((await node("--test", "github/router.test.js")).stdout).toMatch(/pass 2\b/);
});
