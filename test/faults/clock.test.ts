import { expect, test } from "vitest";
import { sqliteStore } from "../../src/kit/stores/sqlite/sqlite-store.js";
import { createManualClock } from "../../src/kit/testing/index.js";
import { batchOf, newEvent, opened, T0 } from "../unit/kit/inbox/new-event.js";
import { startRig, type Rig } from "../unit/kit/inbox/receiver-rig.js";
import { eventually } from "./eventually.js";
import { inboxFiles } from "./inbox-file.js";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** How a person sets the machine's clock: by so much, once or twice. */
const JUMPS: readonly (readonly [how: string, by: readonly number[]])[] = [
  ["an hour back", [-HOUR_MS]],
  ["forty days forward", [40 * DAY_MS]],
  ["forty days forward and back again", [40 * DAY_MS, -40 * DAY_MS]],
];

/** Each jump is seen by a claim before the next one comes, and before the clock goes on. */
async function jump(rig: Rig, ...jumps: readonly number[]): Promise<void> {
  for (const ms of jumps) {
    rig.clock.setNow(rig.clock.now() + ms);
    const { commit } = rig.store;
    let isSeen = false;
    rig.store.commit = async (batch) => {
      const result = await commit(batch);
      isSeen ||= batch.claim !== null;
      return result;
    };
    await rig.clock.advance(1000);
    await eventually("a claim", () => isSeen);
    rig.store.commit = commit;
  }
}

function countDone(rig: Rig): Promise<number> {
  return rig.receiver.inbox.stats().then(({ done }) => done);
}

for (const [how, by] of JUMPS) {
  test.each([false, true])(
    `a clock set ${how}: all in hand go on and are handed off once (shared: %s)`,
    async (shared) => {
      const store = sqliteStore({ path: inboxFiles().db, shared });
      // Fewer wait than run, so that it claims more; of a shared store only what can run is
      // claimed.
      const rig = await startRig({ store, handoff: { concurrency: shared ? 7 : 4 } });
      const events = await rig.deliverMany(6);
      const running = shared ? 6 : 4;
      await eventually("the callbacks", () => rig.calls.length === running);
      await jump(rig, ...by);
      await rig.clock.advance(30_000 - by.length * 1000 - 1);
      expect(rig.calls.map(({ handoff }) => handoff.abortSignal.aborted)).toEqual(
        Array.from({ length: running }, () => false),
      );

      await eventually("all to be done", async () => {
        for (const call of rig.calls) call.resolve();
        // What waited for its turn with a lease that is over is given back, and comes with the next
        // poll.
        await rig.clock.advance(1000);
        return (await countDone(rig)) === events.length;
      });
      await rig.clock.advance(120_000);
      expect(rig.calls.map(({ signal }) => signal.id).toSorted()).toEqual(
        events.map(({ id }) => id).toSorted(),
      );
      expect(
        rig.calls.filter(({ handoff }) => handoff.possiblyRepeated || handoff.attempt > 1),
      ).toEqual([]);
    },
  );
}

test("a clock set an hour back between two lives: what waited is handed off", async () => {
  const { db } = inboxFiles();
  const clock = createManualClock(T0);
  const first = await startRig({
    store: sqliteStore(db),
    clock,
    handoff: { concurrency: 1, backoff: () => 10_000 },
  });
  const events = await first.deliverMany(5);
  await eventually("the callback", () => first.calls.length === 1);
  first.calls[0]!.reject();
  await eventually("the next callback", () => first.calls.length === 2);
  // One waits for its second attempt; four are given back, and due at once.
  await first.receiver.close({ graceMs: 0 });

  clock.setNow(clock.now() - HOUR_MS);
  const second = await startRig({ store: sqliteStore(db), clock, onSignal: () => {} });
  await clock.advance(1000);
  await eventually("four at once", async () => (await countDone(second)) === 4);
  await clock.advance(10_000);
  await eventually("the fifth", async () => (await countDone(second)) === events.length);
});

test("what waited for its turn by a clock an hour ahead is handed off at once, however many there are", async () => {
  const { db } = inboxFiles();
  const store = await opened(sqliteStore(db), createManualClock(T0 + HOUR_MS));
  // More than one claim moves.
  const accepts = Array.from({ length: 1200 }, () => newEvent());
  await store.commit(batchOf({ accepts }));
  await store.close("default");
  const seen: string[] = [];
  const rig = await startRig({ store: sqliteStore(db), onSignal: ({ id }) => void seen.push(id) });
  await eventually("all to be done", async () => (await countDone(rig)) === accepts.length);
  expect(seen.toSorted()).toEqual(accepts.map(({ eventId }) => eventId).toSorted());
});
