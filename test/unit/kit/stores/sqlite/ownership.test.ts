import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { memoryStore } from "../../../../../src/kit/stores/memory.js";
import {
  sqliteStore,
  type SqliteStoreOptions,
} from "../../../../../src/kit/stores/sqlite/sqlite-store.js";
import { createManualClock } from "../../../../../src/kit/testing/index.js";
import { rejectionOf } from "../../../signalbox-error-of.js";
import { batchOf, newEvent, opened, T0 } from "../../inbox/new-event.js";
import { accept, inboxPath, openStore } from "./open-store.js";

const refusal = async (options: string | SqliteStoreOptions) =>
  (await rejectionOf(openStore(options))).code;

test("a second owner in the same process is refused, and let in when the first is closed", async () => {
  const path = inboxPath();
  const first = await openStore(path);
  const error = await rejectionOf(openStore(path));
  expect([error.code, error.message.includes(path)]).toEqual(["store_in_use", true]);
  expect(error.help).toContain("the same store object");
  expect(existsSync(`${path}-owner-journal`)).toBe(false);
  await first.close("default");
  await openStore(path);
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
  const reclaim = tool.reclaim({ endpoint: "default", held: [], crashed: true });
  expect((await rejectionOf(reclaim)).code).toBe("store_unsupported");
  expect(await tool.discard([{ endpoint: "default", eventId: event.eventId }])).toEqual(["moved"]);
  expect(await owner.get("default", event.eventId)).toMatchObject({ state: "done", rawBody: null });
});

test.each([
  ["memory", () => memoryStore()],
  ["sqlite", () => sqliteStore(inboxPath())],
])(
  "one %s store serves several endpoints, each once and by its own clock, and closes with the last",
  async (_what, make) => {
    const store = make();
    const starts = new Map([
      ["first", T0],
      ["second", T0 + 3_600_000],
    ]);
    for (const [endpoint, now] of starts)
      await store.open({ endpoint, clock: createManualClock(now) });
    const again = store.open({ endpoint: "second", clock: createManualClock() });
    expect((await rejectionOf(again)).code).toBe("store_in_use");
    for (const endpoint of starts.keys())
      await store.commit(batchOf({ endpoint, accepts: [newEvent({ state: "leased" })] }));
    const leased = (await store.list({})).map(
      ({ endpoint, dueAt }) => dueAt - starts.get(endpoint)!,
    );
    expect(leased).toEqual([60_000, 60_000]);
    await store.close("first");
    await store.commit(batchOf({ endpoint: "second", accepts: [newEvent()] }));
    await store.close("second");
    expect((await rejectionOf(store.list({}))).code).toBe("store_failed");
    await opened(store);
    await store.close("default");
  },
);

test("a close that cannot look at its files leaves no lock behind, and the store object opens again", async () => {
  const path = inboxPath();
  const folder = dirname(path);
  const store = await opened(sqliteStore(path));
  const event = newEvent();
  await accept(store, event);
  renameSync(folder, `${folder}-moved`);
  writeFileSync(folder, "");
  await expect(store.close("default")).rejects.toThrow("ENOTDIR");
  rmSync(folder);
  renameSync(`${folder}-moved`, folder);
  await opened(store);
  expect(await store.get("default", event.eventId)).toMatchObject({ state: "ready" });
  await store.close("default");
});

test("a duplicate is answered after a sync, since another process may not have synced its original yet", async () => {
  const path = inboxPath();
  const [first, second] = [
    await openStore({ path, shared: true }),
    await openStore({ path, shared: true }),
  ];
  const event = newEvent();
  await accept(first, event);
  const syncs = second.diagnostics()?.sync.count ?? NaN;
  expect((await accept(second, event)).accepts).toMatchObject([{ status: "duplicate" }]);
  expect(second.diagnostics()?.sync.count).toBe(syncs + 1);
});
