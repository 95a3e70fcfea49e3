import { afterEach, expect, test, vi } from "vitest";
import type { Run } from "../../../../../src/kit/stores/postgres/connection.js";
import { registerOwner } from "../../../../../src/kit/stores/postgres/owner.js";
import { createManualClock, type ManualClock } from "../../../../../src/kit/testing/index.js";

afterEach(() => void vi.useRealTimers());

async function register(run: Run, clock: ManualClock) {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const owner = await registerOwner({ run, release() {} }, run, "signalbox", "default", clock);
  const pass = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second += 1) {
      await clock.advance(1000);
      await vi.advanceTimersByTimeAsync(1000);
    }
  };
  return { owner, pass };
}

test("leases count as kept from the last moment at which others could have taken the process for dead", async () => {
  let isReachable = true;
  const medium = { inRecovery: false };
  const answer = [{ id: 1, beat: { isKnown: true, medium } }];
  const run = (() =>
    isReachable ? Promise.resolve(answer) : Promise.reject(new Error("cut off"))) as Run;
  const clock = createManualClock();
  const { owner, pass } = await register(run, clock);
  const born = owner.leasedSince();
  expect(born).toBe(clock.elapsed());
  await pass(10);
  isReachable = false;
  await pass(4);
  expect(owner.leasedSince()).toBe(born);
  await pass(1);
  expect(owner.leasedSince()).toBe(Infinity);
  isReachable = true;
  await pass(1);
  const again = clock.elapsed();
  expect(owner.leasedSince()).toBe(again);
  await pass(3);
  expect(owner.leasedSince()).toBe(again);
  // A standby has no heartbeats.
  medium.inRecovery = true;
  await pass(5);
  expect(owner.leasedSince()).toBe(Infinity);
  medium.inRecovery = false;
  await pass(1);
  expect(owner.leasedSince()).toBe(clock.elapsed());
  // The machine slept: only its clock shows it.
  clock.setNow(clock.now() + 6000);
  expect(owner.leasedSince()).toBe(Infinity);
  await owner.close();
});

test("one heartbeat without an answer ends no lease", async () => {
  const clock = createManualClock();
  let isCutOff = false;
  const run = ((_text: string, _values: unknown[], timeoutMs = 10_000) => {
    if (!isCutOff)
      return Promise.resolve([{ id: 1, beat: { isKnown: true, medium: { inRecovery: false } } }]);
    isCutOff = false;
    return new Promise((_, reject) =>
      clock.setTimeout(() => reject(new Error("no answer")), timeoutMs),
    );
  }) as Run;
  const { owner, pass } = await register(run, clock);
  const born = owner.leasedSince();
  isCutOff = true;
  for (let second = 0; second < 10; second += 1) {
    await pass(1);
    expect(owner.leasedSince()).toBe(born);
  }
  await owner.close();
});
