import { expect, test } from "vitest";
import { CRASH_DELAYS_MS } from "../../../../src/kit/inbox/crashes.js";
import { memoryStore } from "../../../../src/kit/stores/memory.js";
import { createManualClock, signalEvent } from "../../../../src/kit/testing/index.js";
import { turns, until } from "../../until.js";
import { startRig, type Rig } from "./receiver-rig.js";

// A process that dies is a receiver that is never closed, whose clock stands still, and whose store
// another one opens.

test("what a dead process had in hand is handed off again at once, flagged, and with no attempt used up", async () => {
  const store = memoryStore();
  const dead = await startRig({ store });
  const events = await dead.begin(3);
  const next = await startRig({ store });
  await until(() => next.calls.length === 3);
  expect(next.calls.map(({ signal }) => signal.id).toSorted()).toEqual(
    events.map(({ id }) => id).toSorted(),
  );
  for (const { handoff } of next.calls) {
    expect(handoff).toMatchObject({ attempt: 1, possiblyRepeated: true, replayed: false });
  }
  next.calls[0]!.resolve();
  await until(() => next.namesSeen().includes("handedOff"));
  expect(await next.entry(next.calls[0]!.signal.id)).toMatchObject({
    state: "done",
    attempts: 1,
    crashes: 1,
  });
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
  expect(last.seen).toEqual([
    expect.objectContaining({ name: "dead", eventId: event.id, reason: "crash_loop" }),
  ]);
  expect(await last.receiver.inbox.get(event.id)).toMatchObject({
    state: "dead",
    crashes: 5,
    attempts: 0,
    lastError: "crash_loop",
    rawBody: expect.any(Uint8Array),
  });
  expect(await last.receiver.inbox.replay(event.id)).toBe("moved");
  await until(() => last.calls.length === 1);
  expect(last.calls[0]!.handoff).toMatchObject({
    attempt: 1,
    replayed: true,
    possiblyRepeated: true,
  });
});
