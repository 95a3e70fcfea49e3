import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test, vi } from "vitest";
import { createEmulator } from "../../src/emulator/create-emulator.js";
import { readMarkdown } from "../repo/markdown.js";
import { install, REPOSITORY } from "./installed.js";
import { quickStartBlock } from "./quick-start.js";
import { startQuickStart } from "./start-quick-start.js";

// Several processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 120_000 });

const HEADING = "A receiver and the emulator";
const README = readMarkdown(readFileSync(join(REPOSITORY, "README.md"), "utf8"));
const KEY = "sbk_the_first_of_the_emulator";

/** The quick start with what the section says to change in it. */
function withSecretFile(quickStart: string): string {
  const [imports = "", secrets = ""] = [...README.section(HEADING).matchAll(/`(import [^`]+|secrets: [^`]+)`/g)].map(
    ([, code = ""]) => code,
  );
  const changed = quickStart
    .replace('import { createReceiver } from "signalbox"', imports)
    .replace("secrets: process.env.SIGNALS_SECRET", secrets)
    .replace(/^if \(!process\.env\.SIGNALS_SECRET\) {.*?^}$/ms, "");
  expect(changed).toContain("secretFile(");
  expect(changed).not.toContain("SIGNALS_SECRET");
  return changed;
}

test("a receiver is registered at the emulator as it is typed, and gets a signal and a month of them", async () => {
  const emulator = createEmulator({
    port: 0,
    accounts: [{ name: "Pro", tier: "pro", key: KEY }],
    // As --allow-loopback-http sets them.
    assumptions: { allowLoopbackHttp: true, signatureClock: "machine" },
  });
  onTestFinished(() => emulator.close());
  await emulator.start();

  const folder = install({ express: "express" });
  writeFileSync(join(folder, "app.mjs"), withSecretFile(quickStartBlock("js", "import express")));
  const { port, lineWith } = await startQuickStart(folder, "app.mjs", "");
  const received = lineWith("signal default/");

  const typed = README.blocks.find(({ heading }) => heading === HEADING)?.code ?? "";
  const commands = typed
    .replaceAll("http://127.0.0.1:4010", emulator.url)
    .replace("localhost:3000", `127.0.0.1:${port}`)
    .replace(/sbk_\S*/, KEY);
  // npx finds the installed command and needs no registry for it.
  const env = { ...process.env, npm_config_offline: "true" };
  const { stdout } = await promisify(execFile)("sh", ["-ec", commands.replaceAll("curl ", "curl -fsS ")], {
    cwd: folder,
    env,
  });
  expect(stdout.match(/"status":"active"/g)).toHaveLength(2);
  expect(await received).toMatch(/^signal default\/sig_/);
  // Two handshakes, what was published, and what the month brought: nothing of it is left behind.
  const { items } = await emulator.control.listDeliveries({ limit: 200 });
  expect(items.length).toBeGreaterThanOrEqual(3);
  expect(items.filter(({ state }) => state !== "delivered")).toEqual([]);
});
