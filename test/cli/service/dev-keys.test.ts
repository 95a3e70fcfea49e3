import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, vi } from "vitest";
import { secretFile, type InboxStore } from "../../../src/kit/index.js";
import { nodeHandler } from "../../../src/kit/receiver/adapters/node-handler.js";
import { memoryStore } from "../../../src/kit/stores/memory.js";
import { sqliteStore } from "../../../src/kit/stores/sqlite/sqlite-store.js";
import { startReceiver } from "../../http/serve.js";
import { testWith } from "../../prerequisites.js";
import { CTRL_C, ENTER, hasScript, onTerminal, type Session } from "../program/on-terminal.js";
import { listen } from "../serve-requests.js";
import { tempFiles } from "../temp-files.js";

// A process that makes the data of an emulator, on a machine that may be busy.
vi.setConfig({ testTimeout: 60_000 });

const testOnTerminal = testWith(hasScript);

/** Runs `dev` on a terminal, with a receiver of this process. */
async function dev({
  store = memoryStore(),
  ...terminal
}: { store?: InboxStore } & Parameters<typeof onTerminal>[1] = {}): Promise<
  Session & { firstSignal: Promise<unknown> }
> {
  const file = join(tempFiles(), "signals.secret");
  const receiver = await startReceiver({ secrets: secretFile(file), store });
  const firstSignal = new Promise((resolve) => receiver.on("accepted", resolve));
  const url = await listen(nodeHandler(receiver));
  const args = ["dev", "--port", "0", "--url", url, "--secret-file", file];
  const session = onTerminal(args, { size: "cols 200 rows 40", ...terminal });
  return { ...session, firstSignal };
}

testOnTerminal("each key does what its line says, and q ends it", async () => {
  const { answer, end, seen } = await dev();
  await answer("published price_increased", "?");
  await answer("publish a signal that you choose", "p");
  await answer("Which signal type?", "mcp_");
  await answer("Search: mcp_", ENTER);
  await answer("About which product?", ENTER);
  await answer("published mcp_added", "r");
  await answer("redelivered mcp_added", " ");
  await answer("paused:", " ");
  await answer("resumed:", "d");
  await answer("advanced to", "m");
  await vi.waitUntil(() => seen().split("advanced to").length === 3, { timeout: 30_000 });
  expect(seen()).toMatch(/advanced to \S+-02 .* [1-9]\d* delivered, 0 failed, 0 waiting/);
  await answer("advanced to", "q");
  expect(await end).toBe(0);
});

testOnTerminal(
  "o opens the dashboard at the last signal, whose inbox is signals.db of this folder",
  async () => {
    const cwd = tempFiles({
      "bin/xdg-open": '#!/bin/sh\nprintf %s "$1" > "$OPENED.part" && mv "$OPENED.part" "$OPENED"\n',
    });
    chmodSync(join(cwd, "bin/xdg-open"), 0o755);
    const opened = join(cwd, "opened");
    const env = {
      PATH: `${join(cwd, "bin")}:${process.env["PATH"]}`,
      DISPLAY: ":0",
      OPENED: opened,
    };
    const { answer, end, seen } = await dev({
      store: sqliteStore(join(cwd, "signals.db")),
      cwd,
      env,
    });
    await answer("published price_increased", "o");
    await vi.waitUntil(() => existsSync(opened), { timeout: 30_000 });
    const address = readFileSync(opened, "utf8");
    const [, page = "", eventId = ""] = /^(http\S+)#\/events\/(\w+)$/.exec(address) ?? [];
    expect(seen()).toContain(`dashboard: ${address}`);
    expect(seen()).toMatch(/published price_increased .* 200 in \d+ ms · handed off \d+ ms/);
    expect(seen()).toMatch(new RegExp(`Dashboard +${page}`));
    expect((await fetch(page)).headers.get("content-type")).toContain("text/html");
    const inbox = await fetch(new URL(`../inbox/api/event?id=${eventId}`, page));
    expect(await inbox.json()).toMatchObject({ eventId, endpoint: "default" });
    await answer("dashboard", "q");
    expect(await end).toBe(0);
  },
);

testOnTerminal("no day passes before the receiver is registered", async () => {
  const session = onTerminal(["dev", "--port", "0", "--url", "http://127.0.0.1:1/x"], {
    size: "cols 200 rows 40",
  });
  await session.answer("waiting for", "m");
  await session.answer("not registered yet", "q");
  expect(await session.end).toBe(0);
  expect(session.seen()).not.toContain("advanced");
});

testOnTerminal(
  "lines wait while a question is on the screen, Escape takes it away, and Ctrl-C is 130",
  async () => {
    const { answer, end, seen, firstSignal } = await dev();
    await answer("Keys", "p");
    await firstSignal;
    expect(seen()).not.toContain("published");
    await answer("Which signal type?", "\u001b");
    await answer("published price_increased", CTRL_C);
    expect(await end).toBe(130);
  },
);
