import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { expect, onTestFinished, test, vi } from "vitest";
import type { AddOnPlan } from "../../src/cli/commands/init/add-on/describe-add-on.js";
import type { LinesToAdd } from "../../src/cli/commands/init/add-on/lines-to-add.js";
import { install } from "../package/installed.js";
import { FIXTURE_APPS, type FixtureApp } from "./add-on-apps.js";

// Compilers and servers, on a machine that may be busy.
vi.setConfig({ testTimeout: 180_000 });

const run = promisify(execFile);

type Written = Pick<AddOnPlan, "app" | "edits" | "commands" | "nextSteps"> & { files: string[] };

test.each(FIXTURE_APPS)("the printed lines work in an app: $name", async (app) => {
  const folder = appFolder(app);
  const before = contentsOf(folder, app);
  const signalbox = join(folder, "node_modules/signalbox/dist/cli/main.js");
  const { stdout } = await node(folder, [signalbox, "init", ".", "--template", "add-on", "--json"]);
  const written = JSON.parse(stdout) as Written;
  expect(written.files.sort()).toEqual([...app.added].sort());
  expect(contentsOf(folder, app)).toEqual(before);
  // What a program gets is what a person reads.
  const printed = written.nextSteps.join("\n");
  for (const { file, lines } of written.edits) {
    expect(file).not.toBeNull();
    for (const line of [file ?? "", ...lines]) expect(printed).toContain(line.trim());
  }

  for (const file of Object.keys(app.files)) {
    const edits = written.edits.filter((edit) => edit.file === file);
    const text = addByHand(readFileSync(join(folder, file), "utf8"), edits);
    writeFileSync(join(folder, file), text);
  }

  for (const build of app.build) await node(folder, build);
  const tests = await node(folder, app.test);
  expect(tests.stdout).toContain("a signed signal is handed to onSignal, once");
  await run("sh", ["-c", written.commands.secret], { cwd: folder });
  await expectDelivery(app, folder, signalbox);
});

/** The file after a user did what was printed. */
function addByHand(text: string, edits: readonly LinesToAdd[]): string {
  const lines = text.split("\n");
  const above = new Map<number, string[]>();
  const below = new Map<number, string[]>();
  const replaced = new Set<number>();
  for (const { line, place, at, lines: added } of edits) {
    if (line === null || place === null) throw new Error("a line that has no place");
    expect(lines[line - 1]?.trim()).toBe(at);
    // Inside a function that begins on that line is below it.
    const into = place === "above" ? above : below;
    if (place === "instead of") replaced.add(line);
    into.set(line, [...(into.get(line) ?? []), ...added]);
  }
  return lines
    .flatMap((line, index) => {
      const kept = replaced.has(index + 1) ? [] : [line];
      return [...(above.get(index + 1) ?? []), ...kept, ...(below.get(index + 1) ?? [])];
    })
    .join("\n");
}

async function expectDelivery({ start }: FixtureApp, folder: string, signalbox: string): Promise<void> {
  const env = { PATH: process.env["PATH"], PORT: "0" };
  const server = spawn(process.execPath, start, { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void server.kill("SIGKILL"));
  const lines = createInterface({ input: server.stdout });
  const output: string[] = [];
  lines.on("line", (line) => output.push(line));
  const lineWith = async (...parts: string[]): Promise<string> => {
    for (;;) {
      const found = output.find((line) => parts.every((part) => line.includes(part)));
      if (found !== undefined) return found;
      await once(lines, "line");
    }
  };
  const { port } = JSON.parse((await lineWith("listening")).slice("listening ".length)) as { port: number };
  await lineWith("receiver started");
  const app = `http://127.0.0.1:${port}`;

  const sent = await node(folder, [signalbox, "send", "price_increased", "--url", `${app}/webhooks/signals`]);
  expect(sent.stdout).toContain("200");
  await lineWith('"signalType":"price_increased"');
  const forged = [signalbox, "send", "test", "--secret", "whsec_forged", "--url", `${app}/webhooks/signals`];
  await expect(node(folder, forged)).rejects.toMatchObject({ code: 1 });
  const health = await fetch(`${app}/webhooks/signals/health`);
  expect(await health.json()).toEqual({ ok: true, state: "running" });

  // The parser of the app still works for the rest of it.
  const headers = { "Content-Type": "application/json" };
  const greeted = await fetch(`${app}/greetings`, { method: "POST", headers, body: '{"name":"Ada"}' });
  expect(await greeted.json()).toEqual({ greeting: "Hello, Ada" });

  server.kill("SIGTERM");
  expect(await once(server, "exit")).toEqual([0, null]);
  expect(output.some((line) => line.includes("receiver closed"))).toBe(true);
  const inbox = await node(folder, [signalbox, "inbox", "stats", "--db", "signals.db", "--json"]);
  expect(JSON.parse(inbox.stdout)).toMatchObject({ done: 1 });
}

function appFolder({ files, packages }: FixtureApp): string {
  const folder = install(packages);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

function contentsOf(folder: string, { files }: FixtureApp): Record<string, string> {
  return Object.fromEntries(Object.keys(files).map((path) => [path, readFileSync(join(folder, path), "utf8")]));
}

/** Rejects with what was printed when it does not exit with 0. */
async function node(
  cwd: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<{ stdout: string }> {
  try {
    return await run(process.execPath, args, { cwd, env: { PATH: process.env["PATH"], NO_COLOR: "1", ...env } });
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    throw Object.assign(new Error(`node ${args.join(" ")} exited with ${code}\n${stdout}${stderr}`), { code });
  }
}
