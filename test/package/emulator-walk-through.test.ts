import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createEmulator } from "../../src/service/emulator/instance/create-emulator.js";
import { readDocument } from "../repo/markdown.js";
import { install } from "./installed.js";
import { startApp, typeIn } from "./processes.js";

const KEY = "sbk_the_first_of_the_emulator";
const block = (page: string, holding: string): string => readDocument(page).block(holding).code;

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
  writeFileSync(join(folder, "app.mjs"), block("docs/start.md", "import express"));
  const { port, linesWith } = await startApp(folder, ["node", "app.mjs"]);

  const commands = block("docs/emulator.md", "signalbox register")
    .replaceAll("http://127.0.0.1:4010", emulator.url)
    .replace("localhost:3000", `127.0.0.1:${port}`)
    .replace(/sbk_\S*/, KEY);
  expect(await typeIn(folder, commands)).toMatch(
    /^advanced to .* [1-9]\d* delivered, 0 failed, 0 waiting$/m,
  );
  await linesWith(/^signal default\//);
  const { items } = await emulator.control.listDeliveries({ limit: 500 });
  expect(
    items.filter(({ event_type }) => event_type === "signal.published").length,
  ).toBeGreaterThan(10);
  expect(items.filter(({ state }) => state !== "delivered")).toEqual([]);
});
