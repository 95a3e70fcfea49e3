import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import express from "express";
import { expect, onTestFinished, test, vi } from "vitest";
import {
  createReceiver,
  PermanentFailure,
  type Receiver,
  type ReceiverOptions,
} from "../../src/kit/index.js";
import { expressHandler } from "../../src/kit/receiver/adapters/express-handler.js";
import { sqliteStore } from "../../src/kit/stores/sqlite/sqlite-store.js";
import { signalEvent, signedDelivery } from "../../src/kit/testing/index.js";
import { serveChallenges, serveService } from "../cli/service/serve-service.js";
import { readDocument } from "../repo/markdown.js";
import { until } from "../unit/until.js";
import { install } from "./installed.js";
import { typeIn } from "./processes.js";

const SECRET = "whsec_quick_start";

const commands = (page: string, holding: string): string =>
  readDocument(`docs/${page}.md`).block(holding).code;

/** The receiver of the quick start, with its inbox in this folder. */
async function start(folder: string, onSignal: ReceiverOptions["onSignal"]): Promise<Receiver> {
  writeFileSync(join(folder, "signals.secret"), SECRET, { mode: 0o600 });
  const store = sqliteStore(join(folder, "signals.db"));
  const receiver = createReceiver({ secrets: SECRET, store, onSignal, logger: false });
  await receiver.start();
  onTestFinished(() => receiver.close({ graceMs: 0 }));
  return receiver;
}

/** The receiver of a folder behind an app, and the commands of the pages with its address. */
async function listen(folder: string, onSignal: ReceiverOptions["onSignal"]) {
  const receiver = await start(folder, onSignal);
  const server = express()
    .use("/webhooks/signals", expressHandler(receiver))
    .listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const typed = (page: string, holding: string): Promise<string> =>
    typeIn(folder, commands(page, holding).replace("localhost:3000", `127.0.0.1:${port}`));
  return { receiver, typed };
}

test("the replay passes as it is typed, the signals it promises reach onSignal, and the clean-up leaves none in quarantine", async () => {
  const folder = install();
  const onSignal = vi.fn();
  const { receiver, typed } = await listen(folder, onSignal);
  await typed("check", "replay --url http://localhost:3000/webhooks/signals\n");
  await until(async () => {
    const { ready, leased } = await receiver.inbox.stats();
    return ready + leased === 0;
  }, "the end of the last hand-off");

  const promised = Number(
    /(\d+) made-up signals/.exec(readDocument("docs/check.md").lines.join(" "))?.[1],
  );
  expect(onSignal).toHaveBeenCalledTimes(promised);
  expect((await receiver.inbox.stats()).quarantined).toBeGreaterThan(0);
  await typeIn(folder, commands("check", "inbox discard"));
  expect((await receiver.inbox.stats()).quarantined).toBe(0);
});

test("the check and the doctor find nothing wrong with a sound receiver, as they are typed", async () => {
  const { typed } = await listen(install(), () => undefined);
  expect(await typed("doctor", "signalbox doctor --url")).toContain("[inbox_sound]");
  // What it sends is then in quarantine, which the doctor tells.
  expect(await typed("check", "check http://localhost:3000/webhooks/signals\n")).toContain(
    "answers.time",
  );
});

test("what was given up is listed, shown, tried again and discarded as it is typed", async () => {
  const folder = install();
  const lines = commands("hand-off", "inbox ls").trimEnd().split("\n");
  expect(lines.map((line) => line.split(" ")[3])).toEqual(["ls", "show", "retry", "discard"]);
  const onSignal = vi.fn(() => Promise.reject(new PermanentFailure("no such tenant")));
  const receiver = await start(folder, onSignal);
  const path = join(folder, "node_modules/signalbox/fixtures/signals/traffic_breakout.json");
  const { id } = JSON.parse(readFileSync(path, "utf8")) as { id: string };
  const died = (): Promise<unknown> => new Promise((resolve) => receiver.on("dead", resolve));
  const deadOnce = died();
  await receiver.handle({
    method: "POST",
    ...signedDelivery(readFileSync(path), { secret: SECRET }),
  });
  await deadOnce;

  expect(await typeIn(folder, lines[0] ?? "")).toContain(id);
  expect(await typeIn(folder, lines[1] ?? "")).toMatch(/no such tenant.*traffic_breakout/s);
  const deadAgain = died();
  expect(await typeIn(folder, lines[2] ?? "")).toContain("ready again");
  await deadAgain;
  expect(onSignal).toHaveBeenCalledTimes(2);
  await typeIn(folder, lines[3] ?? "");
  expect(await receiver.inbox.get(id)).toMatchObject({ state: "done", rawBody: null });
});

test("an unusable event is found in the quarantine as the page says", async () => {
  const PAGE = readDocument("docs/receiver.md");
  const folder = install();
  const receiver = await start(folder, () => undefined);
  const event = signalEvent();
  const { period: _left, ...data } = event.data;
  await receiver.handle({
    method: "POST",
    ...signedDelivery({ ...event, data }, { secret: SECRET }),
  });
  const typed = /`(npx signalbox inbox ls [^`]*quarantined)`/.exec(
    PAGE.section("Answers to the sender"),
  )?.[1];
  const [, reason = ""] = /such as\s+`([^`]+)`/.exec(PAGE.section("What an event must have")) ?? [];
  expect(reason).toContain("data.period");
  expect(await typeIn(folder, typed ?? "")).toContain(reason);
});

test("both registrations are made as it is typed, and their secrets are in the file that the receiver reads", async () => {
  const folder = install();
  const { access, asked } = await serveService();
  const lines = commands("secrets", "register");
  const url = await serveChallenges();
  const typed = lines
    .replace("https://api.example/v1", access[1] ?? "")
    .replace("=…", "=key_of_the_test")
    .replace("https://hooks.example/webhooks/signals", url);
  expect(await typeIn(folder, typed)).toMatch(
    /^wh_1  pending  30 signal types\nwh_2  pending  8 signal types\n/,
  );
  expect(asked().map((each) => each.url)).toEqual([url, url]);
  expect(readFileSync(join(folder, "signals.secret"), "utf8")).toBe(
    "whsec_shown_once_1\nwhsec_shown_once_2\n",
  );
});
