import { expect, test } from "vitest";
import { memoryStore } from "../../../../src/kit/stores/memory.js";
import { sqliteStore } from "../../../../src/kit/stores/sqlite/sqlite-store.js";
import { createManualClock } from "../../../../src/kit/testing/index.js";
import { rejectionOf } from "../../signalbox-error-of.js";
import { batchOf, newEvent, T0 } from "../inbox/new-event.js";
import { inboxPath } from "./sqlite/open-store.js";

test("a second receiver of the same endpoint is refused, since its start would free the first one's leases", async () => {
  const store = memoryStore();
  const clock = createManualClock();
  await store.open({ endpoint: "default", clock });
  await store.open({ endpoint: "second", clock });
  expect((await rejectionOf(store.open({ endpoint: "default", clock }))).code).toBe("store_in_use");
  await store.close("default");
  await store.open({ endpoint: "default", clock });
});

test.each([
  ["memory", memoryStore],
  ["sqlite", () => sqliteStore(inboxPath())],
])("each endpoint of the %s store measures with its own clock", async (_name, createStore) => {
  const store = createStore();
  const starts = { first: T0, second: T0 + 3_600_000 };
  for (const [endpoint, startMs] of Object.entries(starts)) {
    await store.open({ endpoint, clock: createManualClock(startMs) });
  }
  for (const endpoint of Object.keys(starts)) {
    const { accepts } = await store.commit(
      batchOf({ endpoint, accepts: [newEvent({ state: "leased" })] }),
    );
    const settlement = {
      seq: accepts[0]!.seq,
      token: 1,
      attempts: 1,
      possiblyRepeated: false,
      lastError: null,
    };
    await store.commit(
      batchOf({ endpoint, settlements: [{ ...settlement, state: "ready", delayMs: 5000 }] }),
    );
  }
  const dueIn = (await store.list({})).map(
    ({ endpoint, dueAt }) => dueAt - starts[endpoint as keyof typeof starts],
  );
  expect(dueIn).toEqual([5000, 5000]);
  for (const endpoint of Object.keys(starts)) await store.close(endpoint);
});
