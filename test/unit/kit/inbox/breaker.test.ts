import { expect, test } from "vitest";
import { createBreaker } from "../../../../src/kit/inbox/dispatch/breaker.js";
import { createManualClock } from "../../../../src/kit/testing/index.js";

function rig() {
  const clock = createManualClock(0);
  const changes: string[] = [];
  const breaker = createBreaker(clock, {
    onOpen: () => changes.push("open"),
    onProbe: () => changes.push("probe"),
    onClose: () => changes.push("closed"),
  });
  let lastSeq = 0;
  /** So many events fail, each once. */
  const fail = (events: number) => {
    for (let event = 0; event < events; event++) breaker.failed((lastSeq += 1), "Error: no");
  };
  return { clock, changes, breaker, fail };
}

test("the tenth event that fails since the last success opens it, and a success closes it, also at once", async () => {
  const { breaker, fail, changes, clock } = rig();
  fail(9);
  breaker.succeeded();
  fail(9);
  expect(breaker.state()).toBe("closed");
  fail(1);
  breaker.succeeded();
  await clock.advance(120_000);
  expect([breaker.state(), changes]).toEqual(["closed", ["open", "closed"]]);
});

test("each failed probe doubles the wait, up to a minute, and a success starts anew", async () => {
  const { breaker, fail, clock } = rig();
  fail(10);
  for (const seconds of [1, 2, 4, 8, 16, 32, 60, 60]) {
    await clock.advance(seconds * 1000 - 1);
    expect(breaker.state(), `${seconds} s`).toBe("open");
    await clock.advance(1);
    expect(breaker.state(), `${seconds} s`).toBe("probing");
    breaker.failed(1, "Error: no");
  }
  await clock.advance(60_000);
  breaker.succeeded();
  fail(10);
  await clock.advance(1000);
  expect(breaker.state()).toBe("probing");
});

test("failures of callbacks that began before it opened do not put the probe off", async () => {
  const { breaker, fail, clock } = rig();
  fail(10);
  await clock.advance(900);
  fail(6);
  await clock.advance(100);
  expect(breaker.state()).toBe("probing");
});

test("a probe that found nothing to try waits for the next one, and reports no change", async () => {
  const { breaker, fail, clock, changes } = rig();
  fail(10);
  await clock.advance(1000);
  breaker.probeUnused();
  expect(breaker.state()).toBe("open");
  await clock.advance(60_000);
  expect(breaker.state()).toBe("probing");
  expect(changes).toEqual(["open", "probe", "probe"]);
  breaker.succeeded();
  breaker.probeUnused();
  expect(breaker.state()).toBe("closed");
});
