import { expect, test } from "vitest";
import { verifySignature } from "../../../../src/kit/index.js";
import {
  createManualClock,
  signalEvent,
  signedDelivery,
} from "../../../../src/kit/testing/index.js";

test.each([
  ["an event", signalEvent()],
  ["a text", '{"id":"evt_ü"}'],
  ["bytes", Buffer.from([0xff, 0x00])],
])("%s is signed over exactly the bytes that are sent", (_what, event) => {
  const { headers, body } = signedDelivery(event, { secret: "whsec_unit" });
  const header = headers["X-Service-Signature"];
  expect(verifySignature({ header, body, secrets: ["whsec_unit"] }).ok).toBe(true);
  expect(headers["Content-Type"]).toBe("application/json");
  if (typeof event === "string") expect(body.toString()).toBe(event);
});

test("a manual clock stands still until it is moved, and runs each timer at its own moment, in order", async () => {
  const clock = createManualClock(1000);
  const log: string[] = [];
  const note = (name: string) => () => log.push(`${name} ${clock.now()} ${clock.elapsed()}`);
  clock.setTimeout(note("late"), 500);
  clock.setTimeout(note("early"), 100);
  clock.setTimeout(note("never"), 300).cancel();
  clock.setTimeout(() => clock.setTimeout(note("nested"), 100), 200);
  await clock.advance(400);
  expect(log).toEqual(["early 1100 100", "nested 1300 300"]);
  await clock.advance(100);
  expect(log.at(-1)).toBe("late 1500 500");
  expect([clock.now(), clock.elapsed(), clock.pendingTimers()]).toEqual([1500, 500, 0]);
});

test("setting a manual clock runs no timer and changes no elapsed time", async () => {
  const clock = createManualClock(1000);
  let ran = false;
  clock.setTimeout(() => (ran = true), 100);
  clock.setNow(1_000_000);
  await clock.advance(99);
  expect([ran, clock.now(), clock.elapsed()]).toEqual([false, 1_000_099, 99]);
  await clock.advance(1);
  expect(ran).toBe(true);
});

test("a manual clock lets a promise and a turn of the loop finish within each step", async () => {
  const clock = createManualClock();
  const log: string[] = [];
  clock.setTimeout(() => {
    void Promise.resolve().then(() => setImmediate(() => log.push("first's work")));
  }, 10);
  clock.setTimeout(() => log.push("second"), 20);
  await clock.advance(20);
  expect(log).toEqual(["first's work", "second"]);
});
