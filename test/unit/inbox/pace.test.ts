import { expect, test } from "vitest";
import { createAttempts, type LeasedEvent } from "../../../src/inbox/dispatch/attempts.js";
import { createManualClock } from "../../../src/testing/index.js";
import { T0 } from "./new-event.js";

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
