import { expect, test } from "vitest";
import type { ClaimedEvent } from "../../../../src/kit/inbox/batch.js";
import { createAttempts, type LeasedEvent } from "../../../../src/kit/inbox/dispatch/attempts.js";
import { createSlots } from "../../../../src/kit/inbox/dispatch/claims.js";
import { createManualClock } from "../../../../src/kit/testing/index.js";
import { until, turns } from "../../until.js";
import { faultyStore } from "./faulty-store.js";
import { T0 } from "./new-event.js";
import { startRig } from "./receiver-rig.js";

const lease = (token: number): ClaimedEvent =>
  ({ seq: 1, token, body: new Uint8Array(10) }) as ClaimedEvent;

test("the end of one lease does not end the next one of the same event", () => {
  const slots = createSlots(2);
  slots.hold(lease(1));
  slots.hold(lease(2));
  slots.release(lease(1));
  expect([slots.held(), slots.isEmpty(), slots.free()]).toEqual([[lease(2)], false, 1]);
  slots.release(lease(2));
  expect([slots.held(), slots.isEmpty(), slots.free()]).toEqual([[], true, 2]);
});

test("an event whose retry is claimed in the commit that ends its first attempt stays in hand", async () => {
  const store = faultyStore();
  const rig = await startRig({ store, handoff: { backoff: () => 0 } });
  await rig.begin(1);
  const release = store.hold();
  void rig.deliver();
  await turns();
  // Both wait for the commit in flight, and so share the next one.
  rig.calls[0]!.reject();
  await rig.clock.advance(1000);
  release();
  await until(() => rig.calls.length === 3);
  expect(
    store.commits.some(({ settlements, claim }) => settlements.length > 0 && claim !== null),
  ).toBe(true);

  const closing = rig.receiver.close({ graceMs: 60_000 });
  await turns();
  expect(rig.calls.map(({ handoff }) => handoff.abortSignal.aborted)).toEqual([
    false,
    false,
    false,
  ]);
  for (const call of rig.calls) call.resolve();
  await closing;
  expect(rig.namesSeen().filter((name) => name === "handedOff").length).toBe(2);
});

test("the pace is that of a second, also when it is asked for more often", async () => {
  const clock = createManualClock(T0);
  const attempts = createAttempts(
    {
      clock,
      timeoutMs: 1000,
      handOff: () => {
        throw new Error("at once");
      },
    },
    () => {},
  );
  const paces: number[] = [];
  for (let tenth = 0; tenth < 20; tenth += 1) {
    attempts.run({ event: { attempts: 0 }, leasedAt: 0, parsed: null } as LeasedEvent);
    await clock.advance(100);
    paces.push(attempts.pace());
  }
  expect(paces.slice(9)).toEqual(Array.from({ length: 11 }, () => 10));
  await clock.advance(4000);
  expect(attempts.pace()).toBe(0);
});
