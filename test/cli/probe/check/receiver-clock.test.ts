import { expect, test } from "vitest";
import type { Exchange } from "../../../../src/cli/deliveries/send-cases.js";
import { receiverClockOffset } from "../../../../src/cli/probe/check/report-checks.js";

const NOON = Date.parse("2026-11-20T12:00:00Z");

/**
 * An answer within 40 ms, sent so many milliseconds after noon, by a clock that is so far ahead.
 */
function exchange(afterNoonMs: number, aheadMs: number, header?: string): Exchange {
  const sentAt = NOON + afterNoonMs;
  const date = header ?? new Date(sentAt + 20 + aheadMs).toUTCString();
  const expected = { status: 200 };
  return {
    delivery: { name: "any", event: "any", expect: expected },
    name: "any",
    sending: 1,
    sendings: 1,
    sent: Buffer.alloc(0),
    expected,
    answer: { kind: "answer", status: 200, headers: { date }, body: "", shown: "", ms: 40 },
    sentAt,
    answeredAt: sentAt + 40,
    isHeld: false,
  };
}

const offsetOf = (aheadMs: number): number =>
  receiverClockOffset(
    [0, 130, 370, 480, 710, 960, 1240].map((afterNoonMs) => exchange(afterNoonMs, aheadMs)),
  );

test("clocks that agree, or differ by less than a Date header shows, count as one", () => {
  expect([0, 200, -200].map(offsetOf)).toEqual([0, 0, 0]);
});

test("a clock that is off is off by about that much, in either direction", () => {
  for (const aheadMs of [1500, 20_000, -3000])
    expect(Math.abs(offsetOf(aheadMs) - aheadMs)).toBeLessThan(500);
});

test("nothing is concluded from no Date, nonsense, or clocks that contradict each other", () => {
  expect(receiverClockOffset([])).toBe(0);
  expect(receiverClockOffset([exchange(0, 0, "yesterday")])).toBe(0);
  expect(receiverClockOffset([exchange(0, 0), exchange(100, 60_000)])).toBe(0);
});
