import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test, vi } from "vitest";
import { createEmulator } from "../../src/emulator/instance/create-emulator.js";
import { readDocument } from "../repo/markdown.js";
import { install } from "./installed.js";
import { startQuickStart } from "./start-quick-start.js";

// Several processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 120_000 });

const KEY = "sbk_the_first_of_the_emulator";
const block = (holding: string): string => readDocument("docs/emulator.md").block(holding).code;

test("a receiver is registered at the emulator as it is typed, and gets a signal and a month of them", async () => {
  const emulator = createEmulator({
    port: 0,
    accounts: [{ name: "Pro", tier: "pro", key: KEY }],
    // As that switch sets them.
    assumptions: { allowLoopbackHttp: true, signatureClock: "machine" },
  });
  onTestFinished(() => emulator.close());
  await emulator.start();

  const folder = install({ express: "express" });
  writeFileSync(join(folder, "receiver.mjs"), block("secretFile"));
  const { port, lineWith } = await startQuickStart(folder, "receiver.mjs");
  const received = lineWith("signal ");

  const commands = block("signalbox register")
    .replaceAll("http://127.0.0.1:4010", emulator.url)
    .replace("localhost:3000", `127.0.0.1:${port}`)
    .replace(/sbk_\S*/, KEY)
    .replaceAll("curl ", "curl -fsS ");
  // npx finds the installed command and needs no registry for it.
  const env = { ...process.env, npm_config_offline: "true" };
  const { stdout } = await promisify(execFile)("sh", ["-ec", commands], { cwd: folder, env });
  expect(stdout.match(/"status":"active"/g)).toHaveLength(2);
  expect(await received).toMatch(/^signal \S/);
  // Two handshakes, what was published by hand, and "some twenty": nothing of it is left behind.
  const { items } = await emulator.control.listDeliveries({ limit: 200 });
  expect(items.length - 3).toBeGreaterThanOrEqual(15);
  expect(items.length - 3).toBeLessThanOrEqual(25);
  expect(items.filter(({ state }) => state !== "delivered")).toEqual([]);
});
