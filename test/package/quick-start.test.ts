import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test, vi } from "vitest";
import { readDocument } from "../repo/markdown.js";
import { install } from "./installed.js";
import { startQuickStart } from "./start-quick-start.js";

// Several processes a test, on a machine that may be busy.
vi.setConfig({ testTimeout: 60_000 });

const SECRET = "whsec_quick_start";

/** The one block with this in it, as a reader would copy it. */
const block = (holding: string, path = "docs/start.md"): string => readDocument(path).block(holding).code;

/** Types it into a second terminal. */
async function type(folder: string, port: number, command: string): Promise<string> {
  const typed = command.replace("localhost:3000", `127.0.0.1:${port}`);
  // npx finds the installed command and needs no registry for it.
  const env = { ...process.env, npm_config_offline: "true" };
  const { stdout } = await promisify(execFile)("sh", ["-ec", typed], { cwd: folder, env });
  return stdout;
}

const VARIANTS = [
  ["import and Express 5", "app.mjs", "import express", "express"],
  ["import and Express 4", "app.mjs", "import express", "express4"],
  ["require() and Express 5", "app.cjs", `require("express")`, "express"],
  ["require() and Express 4", "app.cjs", `require("express")`, "express4"],
] as const;

test.each(VARIANTS)("the quick start does what the page says, with %s", async (_, file, holding, express) => {
  const folder = install({ express });
  writeFileSync(join(folder, file), block(holding));
  const { port, lineWith } = await startQuickStart(folder, file, SECRET);

  // Signed by openssl and sent by curl: sender and receiver have no code in common.
  const deliver = block("openssl");
  const [, fixture = ""] = /^body=(.*)$/m.exec(deliver) ?? [];
  const event = JSON.parse(readFileSync(join(folder, fixture), "utf8")) as { id: string; data: { title: string } };
  const handedOff = lineWith(`default/${event.id}`);
  const first = await type(folder, port, deliver);
  expect(first).toMatch(/^HTTP\/1.1 200 OK\r\n/);
  expect(first).toMatch(/\r\n\r\n\{"received":true\}$/);
  expect(await handedOff).toBe(`signal default/${event.id} ${event.data.title}`);

  expect(await type(folder, port, deliver)).toMatch(/\r\n\r\n\{"received":true,"duplicate":true\}$/);
  const forged = await type(folder, port, deliver.replace(SECRET, "whsec_quick_starT"));
  expect(forged).toMatch(/^HTTP\/1.1 401 Unauthorized\r\n.*signature_mismatch/s);
});

test("the quick start's second terminal sends a signal with the installed command", async () => {
  const folder = install({ express: "express" });
  writeFileSync(join(folder, "app.mjs"), block("import express"));
  const { port, lineWith } = await startQuickStart(folder, "app.mjs", SECRET);
  const handedOff = lineWith("signal default/");
  await type(folder, port, block("signalbox send"));
  expect(await handedOff).toMatch(/^signal default\/sig_\d+_\d+ \S/);
});

const MODULES = [
  ["import", "app.mjs", "import express"],
  ["require()", "app.cjs", `require("express")`],
] as const;

test.each(MODULES)("a quick start that is started twice says so in one line, with %s", async (_, file, holding) => {
  const folder = install({ express: "express" });
  writeFileSync(join(folder, file), block(holding));
  await startQuickStart(folder, file, SECRET);
  const env = { ...process.env, SIGNALS_SECRET: SECRET, PORT: "0" };
  const second = promisify(execFile)(process.execPath, [file], { cwd: folder, env });
  await expect(second).rejects.toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(/^Another receiver has the inbox \S+ open\. .*\n$/),
  });
});

test.each(MODULES)(
  "a quick start without its secret says what to set, in one line, with %s",
  async (_, file, holding) => {
    const folder = install({ express: "express" });
    writeFileSync(join(folder, file), block(holding));
    const env = { ...process.env, SIGNALS_SECRET: "", PORT: "0" };
    await expect(promisify(execFile)(process.execPath, [file], { cwd: folder, env })).rejects.toMatchObject({
      code: 1,
      stdout: "",
      stderr: "Set SIGNALS_SECRET to the signing secret of your webhook.\n",
    });
  },
);
