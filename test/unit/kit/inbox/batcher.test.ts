import { expect, test } from "vitest";
import type { Batch, SettleResult, Settlement } from "../../../../src/kit/inbox/batch.js";
import {
  createBatcher,
  type Batcher,
  type BatcherLimits,
} from "../../../../src/kit/inbox/batcher.js";
import type { InboxStore } from "../../../../src/kit/inbox/store.js";
import { memoryStore } from "../../../../src/kit/stores/memory.js";
import { createManualClock } from "../../../../src/kit/testing/index.js";
import { rejectionOf } from "../../signalbox-error-of.js";
import { turns } from "../../until.js";
import { faultyStore, mediumError, rowError } from "./faulty-store.js";
import { claimOf, newEvent, opened, T0 } from "./new-event.js";

async function rig(
  maxQueued: BatcherLimits = { events: 100, bytes: 1_000_000 },
  over: Partial<InboxStore> = {},
) {
  const store = { ...(await opened(faultyStore())), ...over };
  const clock = createManualClock(T0);
  const health: unknown[] = [];
  const held: number[] = [];
  const batcher = createBatcher({
    store,
    endpoint: "default",
    clock,
    maxQueued,
    onPromoted: () => {},
    onHealth: (failure) => health.push(failure),
    recover: async () => {
      await store.reclaim({ endpoint: "default", held, crashed: false });
    },
  });
  return { store, clock, health, held, batcher };
}

const claim = claimOf();

function done(seq: number): Settlement {
  const values = {
    delayMs: 0,
    attempts: 1,
    possiblyRepeated: false,
    lastError: null,
    receivedAt: 0,
  };
  return { seq, token: 1, state: "done", ...values };
}

function settle(batcher: Batcher, settlement: Settlement): Promise<SettleResult | null> {
  return new Promise((resolve) => batcher.settle(settlement, resolve));
}

async function leased({ batcher, held }: Awaited<ReturnType<typeof rig>>): Promise<number> {
  const { seq } = await batcher.accept(newEvent({ state: "leased" }));
  held.push(seq);
  return seq;
}

test("what the next turns bring is in the same batch, but it waits for four of them at most", async () => {
  const { batcher, store } = await rig();
  const answers: Promise<unknown>[] = [settle(batcher, done(9))];
  for (let turn = 0; turn < 8; turn++) {
    await turns(1);
    answers.push(batcher.accept(newEvent()));
  }
  await Promise.all(answers);
  const [first] = store.commits;
  expect([first?.settlements.length, first?.accepts.length]).toEqual([1, 4]);
});

test.each([
  ["a full batch begins before the senders of the last one are answered", false, "commit", 2],
  [
    "after a failure the recovery waits for the results of the commit before it",
    true,
    "reclaim",
    1,
  ],
])("%s", async (_what, hasFailed, name, callsAtAnswer) => {
  const { batcher, store } = await rig();
  if (hasFailed) {
    store.fail(mediumError());
    await rejectionOf(batcher.accept(newEvent()));
    store.fail(null);
  }
  const release = store.hold();
  const calls = batcher
    .accept(newEvent())
    .then(() => store.calls.filter((call) => call === name).length);
  await turns(5);
  const others = Array.from({ length: 32 }, () => batcher.accept(newEvent()));
  release();
  expect(await calls).toBe(callsAtAnswer);
  await Promise.all(others);
});

test.each([0, 7, 15])(
  "of 16 events only the bad one is refused, at place %d, and settlements beside it are applied",
  async (place) => {
    const made = await rig();
    const { batcher, store, health } = made;
    const seq = await leased(made);
    const events = Array.from({ length: 16 }, () => newEvent());
    store.refuse([events[place]!.eventId]);
    const settled = settle(batcher, done(seq));
    const answers = events.map((event) =>
      batcher.accept(event).then(({ status }) => status as string, codeOf),
    );
    const claimed = batcher.claim(claim);
    const expected = events.map((_, index) => (index === place ? "store_row_refused" : "accepted"));
    expect(await Promise.all(answers)).toEqual(expected);
    expect((await claimed).events.length).toBeGreaterThan(0);
    expect([await settled, health]).toEqual([true, []]);
    expect(batcher.queued()).toEqual({ events: 0, bytes: 0 });
  },
);

test("a settlement whose lease was lost while the store failed is not taken for one that was applied", async () => {
  const made = await rig();
  const { batcher, store, clock } = made;
  const seq = await leased(made);
  store.fail(mediumError());
  const settled = settle(batcher, done(seq));
  await turns(5);
  store.fail(null);
  await store.reclaim({ endpoint: "default", held: [], crashed: true });
  await clock.advance(1000);
  expect(await settled).toBe(false);
  expect((await store.list({}))[0]).toMatchObject({ state: "ready" });
});

test("a store that fails for long gathers no timers", async () => {
  const made = await rig();
  const { batcher, store, clock } = made;
  const seq = await leased(made);
  store.fail(mediumError());
  void settle(batcher, done(seq));
  await turns(5);
  for (let delivery = 0; delivery < 50; delivery++) await rejectionOf(batcher.accept(newEvent()));
  await turns(5);
  expect(clock.pendingTimers()).toBe(1);
  const before = store.calls.length;
  await clock.advance(10_000);
  expect(store.calls.length - before).toBe(10);
});

test("after a failure the recovery runs before the next commit, and once more before the one after it", async () => {
  const { batcher, store, health } = await rig();
  store.fail(mediumError());
  await rejectionOf(batcher.accept(newEvent()));
  store.fail(null);
  for (let time = 0; time < 3; time++) await batcher.accept(newEvent());
  expect(store.calls).toEqual(["commit", "reclaim", "commit", "reclaim", "commit", "commit"]);
  expect(health.length).toBe(2);
});

test("room is bounded by count and bytes, those in flight included, and comes back after a failure too", async () => {
  const { batcher, store } = await rig({ events: 2, bytes: 1000 });
  store.fail(mediumError());
  const release = store.hold();
  const first = batcher.accept(newEvent({ body: Buffer.alloc(600) }));
  await turns(2);
  expect(batcher.queued()).toEqual({ events: 1, bytes: 600 });
  expect([batcher.hasRoom(400), batcher.hasRoom(401)]).toEqual([true, false]);
  const second = rejectionOf(batcher.accept(newEvent({ body: Buffer.alloc(1) })));
  expect(batcher.hasRoom(1)).toBe(false);
  release();
  await Promise.all([rejectionOf(first), second]);
  expect(batcher.hasRoom(1000)).toBe(true);
});

test("a commit that fails while it closes leaves no timer behind either", async () => {
  const made = await rig();
  const { batcher, store, clock } = made;
  const seq = await leased(made);
  const release = store.hold();
  const refused = rejectionOf(batcher.accept(newEvent()));
  await turns();
  const settled = settle(batcher, done(seq));
  const closing = batcher.close();
  store.fail(mediumError());
  release();
  await Promise.all([refused, closing]);
  expect(await settled).toBeNull();
  expect(clock.pendingTimers()).toBe(0);
});

function codeOf(error: unknown): string {
  return (error as { code: string }).code;
}

test("a long queue is written in portions, bounded by count and by bytes, in order, also by a close", async () => {
  const many = await rig({ events: 1000, bytes: 10_000_000 });
  const answers = Array.from({ length: 600 }, () => many.batcher.accept(newEvent()));
  await many.batcher.close();
  await Promise.all(answers);
  expect(many.store.commits.map(({ accepts }) => accepts.length)).toEqual([32, 256, 256, 56]);

  const large = await rig({ events: 1000, bytes: 10_000_000 });
  const sizes = [400_000, 400_000, 400_000, 2_000_000, 10];
  await Promise.all(
    sizes.map((size) => large.batcher.accept(newEvent({ body: Buffer.alloc(size) }))),
  );
  const written = large.store.commits.map(({ accepts }) =>
    accepts.map(({ body }) => body.byteLength),
  );
  // One that is larger than a portion is one by itself.
  expect(written).toEqual([[400_000, 400_000], [400_000], [2_000_000], [10]]);
});

async function rejected(error: Error): Promise<never> {
  throw error;
}

/** A store with two commits in flight, each of which ends when the test says so. */
async function overlappingRig() {
  const commits: { batch: Batch; end: (error?: Error) => void }[] = [];
  const recoveries: number[] = [];
  let running = 0;
  const inner = await opened(memoryStore());
  const made = await rig(undefined, {
    commitsInFlight: () => 2,
    commit: (batch) => {
      running += 1;
      return new Promise((resolve) => {
        const end = (error?: Error): void => {
          running -= 1;
          resolve(error === undefined ? inner.commit(batch) : rejected(error));
        };
        commits.push({ batch, end });
      });
    },
    reclaim: async () => {
      recoveries.push(running);
      return { freed: 0, dead: [] };
    },
  });
  const answers: string[] = [];
  const accept = (): Promise<unknown> =>
    made.batcher.accept(newEvent()).then(
      () => answers.push("accepted"),
      (error: unknown) => answers.push(codeOf(error)),
    );
  return { ...made, commits, recoveries, answers, accept };
}

test("two commits are in flight, the second is answered after the first, and closing waits for all", async () => {
  const { commits, answers, accept, batcher } = await overlappingRig();
  void accept();
  await turns();
  void accept();
  await turns();
  void accept();
  await turns();
  expect(commits.length).toBe(2);
  commits[1]!.end();
  await turns();
  expect(answers).toEqual([]);
  expect(batcher.queued().events).toBe(3);
  commits[0]!.end();
  await turns();
  expect(answers).toEqual(["accepted", "accepted"]);
  expect(commits.length).toBe(3);
  void accept();
  await turns();
  void batcher.close().then(() => answers.push("closed"));
  commits[3]!.end();
  await turns();
  expect(answers.length).toBe(2);
  commits[2]!.end();
  await turns();
  expect(answers.slice(2)).toEqual(["accepted", "accepted", "closed"]);
});

test.each([
  ["the first", 0],
  ["the second", 1],
])(
  "after a failure of %s commit none begins until none is in flight, and the recovery runs alone",
  async (_which, failed) => {
    const { commits, recoveries, answers, accept } = await overlappingRig();
    for (let at = 0; at < 2; at++) {
      void accept();
      await turns();
    }
    commits[failed]!.end(mediumError());
    await turns();
    void accept();
    await turns();
    expect(commits.length).toBe(2);
    commits[1 - failed]!.end();
    await turns();
    const [first, second] =
      failed === 0 ? ["store_failed", "accepted"] : ["accepted", "store_failed"];
    expect(answers).toEqual([first, second]);
    expect([commits.length, recoveries]).toEqual([3, [0]]);
    void accept();
    await turns();
    expect(commits.length).toBe(3);
    commits[2]!.end();
    await turns();
    // Once more before the commit after it, which runs alone as well.
    void accept();
    await turns();
    expect([commits.length, recoveries]).toEqual([4, [0, 0]]);
  },
);

test("a half that follows a failure of the medium does not recover beside the commit in flight", async () => {
  const { commits, recoveries, answers, accept } = await overlappingRig();
  void accept();
  void accept();
  await turns();
  void accept();
  await turns();
  commits[0]!.end(rowError());
  await turns();
  commits[2]!.end(mediumError());
  await turns();
  commits[3]!.end();
  await turns();
  expect([answers, recoveries]).toEqual([["store_failed", "accepted"], []]);
  commits[1]!.end();
  await turns();
  void accept();
  await turns();
  expect([answers.length, recoveries]).toEqual([3, [0]]);
});

test("a settlement that comes beside a claim is written although the store counts as failing", async () => {
  const { batcher, store, clock } = await rig();
  store.fail(mediumError());
  await rejectionOf(batcher.accept(newEvent()));
  store.fail(null);
  const release = store.hold();
  const claimed = batcher.claim(claim);
  await turns();
  const settled = settle(batcher, done(9));
  release();
  await claimed;
  await clock.advance(1000);
  expect(await settled).toBe(false);
});
