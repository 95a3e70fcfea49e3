import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import type { Handoff, Signal } from "../../../../src/index.js";
import { sqliteStore, type SqliteStoreOptions } from "../../../../src/stores/sqlite/sqlite-store.js";
import { signalEvent } from "../../../../src/testing/index.js";
import { newEvent, T0 } from "../../inbox/new-event.js";
import { startRig } from "../../inbox/receiver-rig.js";
import { rejectionOf } from "../../signalbox-error-of.js";
import { accept, inboxPath, openStore } from "./open-store.js";

const refusal = async (options: string | SqliteStoreOptions) => (await rejectionOf(openStore(options))).code;

/** A process that has the inbox open and one event in hand. */
async function startHolder(path: string, event: object) {
  const script = fileURLToPath(new URL("lock-holder.mjs", import.meta.url));
  const child = spawn(process.execPath, [script, path, JSON.stringify(event)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [said] = (await once(child.stdout, "data")) as [Buffer];
  return { child, said: said.toString() };
}

test("a second owner in the same process is refused, and let in when the first is closed", async () => {
  const path = inboxPath();
  const first = await openStore(path);
  const error = await rejectionOf(openStore(path));
  expect(error.code).toBe("store_in_use");
  expect(error.message).toContain(path);
  expect(error.help).toContain("shared: true");
  await first.close("default");
  await openStore(path);
});

test("an owner in another process shuts this one out, and the other way round", async () => {
  const path = inboxPath();
  const { child, said } = await startHolder(path, signalEvent());
  expect(said).toBe("open");
  expect(await refusal(path)).toBe("store_in_use");
  expect(await refusal({ path, shared: true })).toBe("store_in_use");
  child.kill("SIGKILL");
  await once(child, "close");
  await openStore(path);
  expect((await startHolder(path, signalEvent())).said).toBe("store_in_use");
});

test("what a killed owner had in hand is handed off at once by the next, flagged", async () => {
  const path = inboxPath();
  const event = signalEvent();
  const { child } = await startHolder(path, event);
  child.kill("SIGKILL");
  await once(child, "close");
  let onHandoff: (call: [Signal, Handoff]) => void = () => {};
  const handedOff = new Promise<[Signal, Handoff]>((resolve) => (onHandoff = resolve));
  const { receiver } = await startRig({
    store: sqliteStore(path),
    onSignal: (signal, handoff) => onHandoff([signal, handoff]),
  });
  const done = new Promise((resolve) => receiver.on("handedOff", resolve));
  const [signal, handoff] = await handedOff;
  expect(signal).toEqual(event);
  expect(handoff).toMatchObject({ attempt: 1, possiblyRepeated: true, replayed: false });
  await done;
  expect(await receiver.inbox.get(event.id)).toMatchObject({ state: "done", attempts: 1, crashes: 1 });
});

test("several may share a file when all say so, and an owner may not join them", async () => {
  const path = inboxPath();
  const first = await openStore({ path, shared: true });
  const second = await openStore({ path, shared: true });
  expect(await refusal(path)).toBe("store_in_use");
  await first.close("default");
  expect(await refusal(path)).toBe("store_in_use");
  await second.close("default");
  await openStore(path);
  expect(await refusal({ path, shared: true })).toBe("store_in_use");
});

test("a tool may look in beside the owner, and administer, but not receive", async () => {
  const path = inboxPath();
  const owner = await openStore(path);
  const event = newEvent({ state: "quarantined", reason: "not_json" });
  await accept(owner, event);
  const tool = await openStore({ path, operator: true });
  expect((await tool.list({})).map(({ eventId }) => eventId)).toEqual([event.eventId]);
  expect((await rejectionOf(accept(tool, newEvent()))).code).toBe("store_unsupported");
  const takeOver = tool.takeOver({ endpoint: "default", now: T0, held: new Set(), crashed: true });
  expect((await rejectionOf(takeOver)).code).toBe("store_unsupported");
  expect(await tool.discard([{ endpoint: "default", eventId: event.eventId }], T0)).toEqual(["moved"]);
  expect(await owner.get("default", event.eventId)).toMatchObject({ state: "done", rawBody: null });
});

test("one store object serves several endpoints, each once, and closes with the last", async () => {
  const path = inboxPath();
  const store = await openStore(path);
  await store.open({ endpoint: "second" });
  expect((await rejectionOf(store.open({ endpoint: "second" }))).code).toBe("store_in_use");
  await store.close("default");
  await accept(store, newEvent({ endpoint: "second" }));
  expect(await refusal(path)).toBe("store_in_use");
  await store.close("second");
  expect((await rejectionOf(store.list({}))).code).toBe("store_failed");
  await openStore(path);
});

test("a refused opening leaves no lock behind", async () => {
  const path = inboxPath();
  const owner = await openStore(path);
  for (let time = 0; time < 3; time++) await refusal({ path, shared: true });
  await owner.close("default");
  await openStore({ path, shared: true });
});
