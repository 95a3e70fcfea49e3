import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import express from "express";
import { expect, onTestFinished, test, vi } from "vitest";
import { createReceiver, PermanentFailure, type Receiver, type ReceiverOptions } from "../../src/index.js";
import { expressHandler } from "../../src/receiver/adapters/express-handler.js";
import { sqliteStore } from "../../src/stores/sqlite/sqlite-store.js";
import { signalEvent, signedDelivery } from "../../src/testing/index.js";
import { serveService } from "../cli/serve-service.js";
import { readMarkdown } from "../repo/markdown.js";
import { until } from "../unit/until.js";
import { install, REPOSITORY } from "./installed.js";

// Several processes a test, on a machine that may be busy.
vi.setConfig({ testTimeout: 120_000 });

const README = readMarkdown(readFileSync(join(REPOSITORY, "README.md"), "utf8"));
const SECRET = "whsec_quick_start";

/** The one block of commands under a heading that holds this. */
function commands(heading: string, holding: string): string {
  const blocks = README.blocks.filter((each) => each.heading === heading && each.language === "sh");
  const [found, ...others] = blocks.filter(({ code }) => code.includes(holding));
  if (found === undefined || others.length > 0) throw new Error(`"${heading}" has not one block with ${holding}`);
  return found.code;
}

/** Types it in a folder where the package is installed. Rejects unless it exits with 0. */
async function type(folder: string, command: string): Promise<string> {
  // npx finds the installed command and needs no registry for it.
  const env = { ...process.env, npm_config_offline: "true" };
  const { stdout } = await promisify(execFile)("sh", ["-ec", command], { cwd: folder, env });
  return stdout;
}

/** The receiver of the quick start, with its inbox in this folder. */
async function start(folder: string, onSignal: ReceiverOptions["onSignal"]): Promise<Receiver> {
  const store = sqliteStore(join(folder, "signals.db"));
  const receiver = createReceiver({ secrets: SECRET, store, onSignal, logger: false });
  await receiver.start();
  onTestFinished(() => receiver.close({ graceMs: 0 }));
  return receiver;
}

test("the demo runs as it is typed", async () => {
  const stdout = await type(install({ express: "express" }), commands("Three commands to know", "signalbox demo"));
  expect(stdout).toMatch(/callback +\d+ hand-offs of \d+ events, each exactly once +ok/);
});

test("the replay passes as it is typed, the signals it promises reach onSignal, and the clean-up leaves none in quarantine", async () => {
  const folder = install();
  const onSignal = vi.fn();
  const receiver = await start(folder, onSignal);
  const server = express().use("/webhooks/signals", expressHandler(receiver)).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const replay = commands("Three commands to know", "SIGNALS_SECRET=whsec_quick_start");
  await type(folder, replay.replace("localhost:3000", `127.0.0.1:${port}`));
  await until(async () => {
    const { ready, leased } = await receiver.inbox.stats();
    return ready + leased === 0;
  }, "the end of the last hand-off");

  const promised = Number(/(\d+) made-up signals/.exec(README.section("Three commands to know"))?.[1]);
  expect(onSignal).toHaveBeenCalledTimes(promised);
  expect((await receiver.inbox.stats()).quarantined).toBeGreaterThan(0);
  await type(folder, commands("Three commands to know", "inbox discard"));
  expect((await receiver.inbox.stats()).quarantined).toBe(0);
});

test("what was given up is listed, shown, tried again and discarded as it is typed", async () => {
  const folder = install();
  const lines = commands("Handing off", "inbox ls").trimEnd().split("\n");
  expect(lines.map((line) => line.split(" ")[3])).toEqual(["ls", "show", "retry", "discard"]);
  const onSignal = vi.fn(() => Promise.reject(new PermanentFailure("no such tenant")));
  const receiver = await start(folder, onSignal);
  const path = join(folder, "node_modules/signalbox/fixtures/signals/traffic_breakout.json");
  const { id } = JSON.parse(readFileSync(path, "utf8")) as { id: string };
  const died = (): Promise<unknown> => new Promise((resolve) => receiver.on("dead", resolve));
  const deadOnce = died();
  await receiver.handle({ method: "POST", ...signedDelivery(readFileSync(path), { secret: SECRET }) });
  await deadOnce;

  expect(await type(folder, lines[0] ?? "")).toContain(id);
  expect(await type(folder, lines[1] ?? "")).toMatch(/no such tenant.*traffic_breakout/s);
  const deadAgain = died();
  expect(await type(folder, lines[2] ?? "")).toContain("ready again");
  await deadAgain;
  expect(onSignal).toHaveBeenCalledTimes(2);
  await type(folder, lines[3] ?? "");
  expect(await receiver.inbox.get(id)).toMatchObject({ state: "done", rawBody: null });
});

test("an unusable event is found in the quarantine as the README says", async () => {
  const folder = install();
  const receiver = await start(folder, () => undefined);
  const event = signalEvent();
  const { period: _left, ...data } = event.data;
  await receiver.handle({ method: "POST", ...signedDelivery({ ...event, data }, { secret: SECRET }) });
  const typed = /`(npx signalbox inbox ls [^`]*quarantined)`/.exec(README.section("What the sender gets back"))?.[1];
  const [, reason = ""] = /such as\s+`([^`]+)`/.exec(README.section("What an event must have")) ?? [];
  expect(reason).toContain("data.period");
  expect(await type(folder, typed ?? "")).toContain(reason);
});

test("both registrations are made as it is typed, and their secrets are in the file that the receiver reads", async () => {
  const folder = install();
  const { access, asked } = await serveService();
  const lines = commands("Register it at the service", "register");
  const typed = lines.replace("https://api.example/v1", access[1] ?? "").replace("=…", "=key_of_the_test");
  expect(await type(folder, typed)).toBe("wh_1  pending  30 signal types\nwh_2  pending  8 signal types\n");
  expect(asked().map(({ url }) => url)).toEqual(Array(2).fill("https://hooks.example/webhooks/signals"));
  expect(readFileSync(join(folder, "signals.secret"), "utf8")).toBe("whsec_shown_once_1\nwhsec_shown_once_2\n");
});
