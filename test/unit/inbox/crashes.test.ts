import { expect, test } from "vitest";
import { CRASH_DELAYS_MS } from "../../../src/inbox/crashes.js";
import type { InboxStore } from "../../../src/index.js";
import { memoryStore } from "../../../src/stores/memory.js";
import { createManualClock, signalEvent } from "../../../src/testing/index.js";
import { turns, until } from "../until.js";
import { mediumError } from "./faulty-store.js";
import { batchOf, newEvent, opened, T0 } from "./new-event.js";
import { startRig, type Rig } from "./receiver-rig.js";

// A process that dies is a receiver that is never closed, whose clock stands still, and whose store another one opens.

test("what a dead process had in hand is handed off again at once, flagged, and with no attempt used up", async () => {
  const store = memoryStore();
  const dead = await startRig({ store });
  const events = await dead.begin(3);
  const next = await startRig({ store });
  await until(() => next.calls.length === 3);
  expect(next.calls.map(({ signal }) => signal.id).toSorted()).toEqual(events.map(({ id }) => id).toSorted());
  for (const { handoff } of next.calls) {
    expect(handoff).toMatchObject({ attempt: 1, possiblyRepeated: true, replayed: false });
  }
  next.calls[0]!.resolve();
  await until(() => next.namesSeen().includes("handedOff"));
  expect(await next.entry(next.calls[0]!.signal.id)).toMatchObject({ state: "done", attempts: 1, crashes: 1 });
});

test("the fifth crash makes an event dead, as a crash loop, with its payload", async () => {
  const store = memoryStore();
  const event = signalEvent();
  const handoff = { timeoutMs: 7_200_000 };
  const first = await startRig({ store, handoff });
  await first.deliver(event);
  let last: Rig = first;
  for (let crash = 1; crash <= 5; crash++) {
    await until(() => last.calls.length === 1, `the hand-off before crash ${crash}`);
    last = await startRig({ store, handoff, clock: createManualClock(last.clock.now()) });
    await turns();
    // The first crash delays nothing, since it is seldom the fault of an event.
    expect(last.calls.length).toBe(crash === 1 ? 1 : 0);
    await last.clock.advance(CRASH_DELAYS_MS[crash - 1] ?? 0);
  }
  expect(last.calls).toEqual([]);
  expect(last.seen).toEqual([expect.objectContaining({ name: "dead", eventId: event.id, reason: "crash_loop" })]);
  expect(await last.receiver.inbox.get(event.id)).toMatchObject({
    state: "dead",
    crashes: 5,
    attempts: 0,
    lastError: "crash_loop",
    rawBody: expect.any(Uint8Array),
  });
  expect(await last.receiver.inbox.replay(event.id)).toBe("moved");
  await until(() => last.calls.length === 1);
  expect(last.calls[0]!.handoff).toMatchObject({ attempt: 1, replayed: true, possiblyRepeated: true });
});

/** What a process has of a store: nothing that it writes after its death gets there. */
function mortal(inner: InboxStore): { store: InboxStore; die(): void; isDead(): boolean } {
  let isDead = false;
  const assertAlive = (): void => {
    if (isDead) throw mediumError();
  };
  return {
    store: {
      ...inner,
      async commit(batch) {
        assertAlive();
        return inner.commit(batch);
      },
      async reclaim(request) {
        assertAlive();
        return inner.reclaim(request);
      },
    },
    die: () => (isDead = true),
    isDead: () => isDead,
  };
}

test("an event that ends each process it comes to is dead after five, and none of the 63 beside it is", async () => {
  const inner = await opened(memoryStore());
  const events = Array.from({ length: 64 }, () => newEvent());
  const poison = events[8]!.eventId;
  await inner.commit(batchOf({ accepts: events }));
  let now = T0;
  let deaths = 0;
  for (let life = 0; life < 6; life++) {
    const process = mortal(inner);
    const clock = createManualClock(now);
    const onSignal = ({ id }: { id: string }): Promise<void> | void => {
      if (process.isDead()) return new Promise(() => {});
      if (id === poison) process.die();
    };
    await startRig({ store: process.store, clock, onSignal });
    for (let minute = 0; minute < 120 && !process.isDead(); minute++) await clock.advance(60_000);
    if (process.isDead()) deaths += 1;
    now = clock.now();
  }
  expect(deaths).toBe(5);
  expect(await inner.stats("default")).toMatchObject({ done: 63, dead: 1 });
  expect(await inner.get("default", poison)).toMatchObject({ state: "dead", crashes: 5, lastError: "crash_loop" });
});
