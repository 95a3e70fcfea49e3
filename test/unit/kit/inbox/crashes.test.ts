import { expect, test } from "vitest";
import { memoryStore } from "../../../../src/kit/stores/memory.js";
import { until } from "../../until.js";
import { startRig } from "./receiver-rig.js";

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
