import { expect, onTestFinished, test } from "vitest";
import type { Alarm } from "../../src/kit/index.js";
import { memoryStore } from "../../src/kit/stores/memory.js";
import { createManualClock, signalEvent, testReceiver } from "../../src/kit/testing/index.js";

const HOUR_MS = 3_600_000;

test("a week of ordinary traffic with nights, a weekend, scanners, failures and a deployment has no alarm", async () => {
  const store = memoryStore();
  // A Monday.
  const clock = createManualClock(Date.UTC(2026, 2, 2));
  const told: Alarm[] = [];
  let calls = 0;

  async function start() {
    const rig = await testReceiver({
      store,
      clock,
      alarms: { quietAfterMs: 3 * 24 * HOUR_MS },
      onSignal: () => {
        if (++calls % 20 === 0) throw new Error("once in a while");
      },
    });
    onTestFinished(() => rig.receiver.close({ graceMs: 0 }));
    rig.receiver.on("alarm", (alarm) => void told.push(alarm));
    return rig;
  }

  /** Two of three minutes are left out, since each second of the clock is a poll of the store. */
  async function pass(ms: number) {
    clock.setNow(clock.now() + (ms * 2) / 3);
    await clock.advance(ms / 3);
  }

  let { receiver, deliver } = await start();
  for (let hour = 0; hour < 7 * 24; hour++) {
    const isWorkTime = hour < 5 * 24 && hour % 24 >= 7 && hour % 24 < 19;
    for (let quarter = 0; quarter < 4; quarter++) {
      if (isWorkTime) await deliver(signalEvent());
      else if (quarter === 0) {
        await receiver.handle({ method: "POST", headers: {}, body: Buffer.from("{}") });
        if (hour % 24 === 2) await deliver(signalEvent(), { secret: "whsec_of_somebody" });
      }
      await pass(HOUR_MS / 4);
    }
    if (hour === 58) {
      await receiver.close();
      await clock.advance(HOUR_MS / 2);
      ({ receiver, deliver } = await start());
    }
  }
  expect(calls).toBeGreaterThan(200);
  expect(told).toEqual([]);
}, 180_000);
