import { expect, test } from "vitest";
import { until } from "../until.js";
import { T0 } from "./new-event.js";
import { startRig } from "./receiver-rig.js";

const HOUR_MS = 3_600_000;

test.each([
  ["an hour back", -HOUR_MS],
  ["an hour forward", HOUR_MS],
  ["forty days forward", 40 * 24 * HOUR_MS],
])("a clock set %s times no running callback out and hands nothing off twice", async (_how, jump) => {
  const rig = await startRig({ handoff: { concurrency: 4, timeoutMs: 30_000 } });
  const events = await rig.deliverMany(8);
  await until(() => rig.calls.length === 4);
  rig.clock.setNow(T0 + jump);
  await rig.clock.advance(29_000);
  expect(rig.calls.length).toBe(4);
  expect(rig.calls.map(({ handoff }) => handoff.abortSignal.aborted)).toEqual([false, false, false, false]);
  for (let index = 0; index < 8; index++) {
    await until(() => rig.calls.length > index);
    rig.calls[index]!.resolve();
  }
  await until(async () => (await rig.receiver.inbox.stats()).done === 8);
  await rig.clock.advance(90_000);
  expect(rig.calls.map(({ signal }) => signal.id).toSorted()).toEqual(events.map(({ id }) => id).toSorted());
});

test("a retry that became due by a jump forward comes within a second", async () => {
  const rig = await startRig({ handoff: { backoff: () => HOUR_MS } });
  await rig.begin(1);
  rig.calls[0]!.reject();
  await rig.clock.advance(1000);
  rig.clock.setNow(T0 + 2 * HOUR_MS);
  await rig.clock.advance(1000);
  expect(rig.calls.length).toBe(2);
});

test("after a jump back, deliveries are still judged by the clock as it stands", async () => {
  const rig = await startRig();
  rig.clock.setNow(T0 - HOUR_MS);
  expect((await rig.deliver()).status).toBe(200);
  await until(() => rig.calls.length === 1);
});
