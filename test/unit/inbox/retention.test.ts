import { expect, test } from "vitest";
import type { Batcher } from "../../../src/inbox/batcher.js";
import { startRetention } from "../../../src/inbox/retention.js";
import type { InboxStore, PruneRequest } from "../../../src/inbox/store.js";
import { createManualClock } from "../../../src/testing/index.js";

test("under a load that never ends old events are pruned as fast as they come", async () => {
  const clock = createManualClock();
  let rows = 0;
  const prune = async ({ limit }: PruneRequest) => {
    rows += limit;
    return { payloads: limit, keys: 0 };
  };
  const stop = startRetention({
    store: { prune } as unknown as InboxStore,
    endpoint: "default",
    batcher: { isIdle: () => false } as unknown as Batcher,
    clock,
    retention: { keyDays: 30, payloadDays: 7 },
    onError: () => expect.unreachable(),
  });
  await clock.advance(60_000);
  const before = rows;
  await clock.advance(10_000);
  stop();
  expect(rows - before).toBeGreaterThanOrEqual(16_000);
});
