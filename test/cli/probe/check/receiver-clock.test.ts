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
  const answer = { kind: "answer", headers: { date } };
  return { answer, sentAt, answeredAt: sentAt + 40 } as unknown as Exchange;
}

test.each([0, 200, -200, 1500, 20_000, -3000])("a clock that is %i ms ahead", (aheadMs) => {
  const exchanges = [0, 130, 370, 480, 710, 960, 1240].map((at) => exchange(at, aheadMs));
  const offset = receiverClockOffset(exchanges);
  // A Date header shows no less.
  if (Math.abs(aheadMs) < 500) expect(offset).toBe(0);
  else expect(Math.abs(offset - aheadMs)).toBeLessThan(500);
});

test("nothing is concluded from no Date, nonsense, or clocks that contradict each other", () => {
  for (const each of [[], [exchange(0, 0, "yesterday")], [exchange(0, 0), exchange(100, 60_000)]])
    expect(receiverClockOffset(each)).toBe(0);
});
