import { expect, test } from "vitest";
import { createByteLimit } from "../../../../src/kit/inbox/byte-limit.js";
import type { InboxStore, PayloadSize } from "../../../../src/kit/inbox/store.js";
import { memoryStore } from "../../../../src/kit/stores/memory.js";
import { batchOf, claimOf, newEvent, opened, T0 } from "./new-event.js";
import { startRig } from "./receiver-rig.js";

const MINUTE = 60_000;

test("a receiver drops the payloads of done events that came first, and no id", async () => {
  const rig = await startRig({
    handoff: { concurrency: 10, timeoutMs: 10 * MINUTE },
    retention: { maxBytes: 2500 },
  });
  const events = await rig.begin(6);
  for (const call of rig.calls.slice(1)) call.resolve();
  await rig.saw("handedOff");
  const gone = async (): Promise<number[]> => {
    const all = await Promise.all(events.map(({ id }) => rig.receiver.inbox.get(id)));
    return [...all.keys()].filter((index) => all[index]?.rawBody === null);
  };
  await rig.clock.advance(MINUTE);
  const before = await gone();
  // The first one still runs, so it is not the oldest that is done.
  expect(before[0]).toBe(1);
  expect(before).toEqual(before.map((_, index) => index + 1));
  expect(before.length).toBeLessThan(5);
  expect((await rig.deliver(events[1])).body).toContain("duplicate");
  rig.calls[0]?.resolve();
  for (let round = 0; round < 3; round++) await rig.clock.advance(MINUTE);
  expect((await gone())[0]).toBe(0);
});

/** Does all that is to do now. */
async function runOut(step: () => Promise<boolean>): Promise<void> {
  for (let count = 0; await step(); count++) if (count > 200) throw new Error("no end");
}

async function sizesOf(store: InboxStore): Promise<PayloadSize[]> {
  return store.payloadSizes({ endpoint: "default", from: 0, before: 1e9, limit: 1e6 });
}

const sumOf = (sizes: PayloadSize[]): number => sizes.reduce((sum, { bytes }) => sum + bytes, 0);

test("among thousands the limit is kept, also after what is done late, and after other deletions", async () => {
  const store = await opened(memoryStore());
  const body = Buffer.from("x".repeat(100));
  let count = 0;
  const add = async (many: number, state: "ready" | "done"): Promise<void> => {
    const accepts = Array.from({ length: many }, () =>
      newEvent({ eventId: `evt_${count++}`, state, body }),
    );
    await store.commit(batchOf({ accepts }));
  };
  await add(1500, "ready");
  await add(3000, "done");
  const each = (await sizesOf(store)).at(-1)?.bytes ?? 0;
  const maxBytes = each * 2000;
  const step = createByteLimit(store, "default", maxBytes);
  await runOut(step);
  expect(sumOf(await sizesOf(store))).toBe(maxBytes);
  const waiting = await sizesOf(store);
  expect(waiting.slice(0, 1500).every(({ waits }) => waits)).toBe(true);
  // The newest are kept.
  expect(waiting.at(-2000)?.seq).toBe(2501);

  const { claim } = await store.commit(batchOf({ claim: claimOf({ limit: 1500 }) }));
  const settlements = (claim?.events ?? []).map(({ seq, token }) => ({
    receivedAt: T0,
    seq,
    token,
    state: "done" as const,
    delayMs: 0,
    attempts: 1,
    possiblyRepeated: false,
    lastError: null,
  }));
  await store.commit(batchOf({ settlements }));
  for (let round = 0; round < 2; round++) await runOut(step);
  expect((await sizesOf(store))[0]?.seq).toBe(2501);

  const seqs = (await sizesOf(store)).slice(0, 1900).map(({ seq }) => seq);
  await store.dropPayloads("default", seqs);
  await add(1900, "done");
  await runOut(step);
  expect(sumOf(await sizesOf(store))).toBe(maxBytes);
});
