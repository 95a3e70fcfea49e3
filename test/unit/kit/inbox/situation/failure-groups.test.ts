import { expect, test } from "vitest";
import {
  commonError,
  readFailures,
} from "../../../../../src/kit/inbox/situation/failure-groups.js";

const common = (lastError: string): string => commonError({ lastError, subject: null });

/** The fastest of five runs, so that another process on the machine counts little. */
function msOf(text: string): number {
  const times = Array.from({ length: 5 }, () => {
    const beganAt = performance.now();
    common(text);
    return performance.now() - beganAt;
  });
  return Math.min(...times);
}

test("a word with a digit differs between events, a word without one does not", () => {
  expect(common("order-1234 of shop:9a failed: no stock")).toBe(
    common("order-77 of shop:2b failed: no stock"),
  );
  expect(common("order failed")).not.toBe(common("invoice failed"));
  expect(common("no-digit-here")).toBe("no-digit-here");
  expect(common("no customer cus_NffrFeUfNVqhgx")).toBe(common("no customer cus_QxyVbnMpLkJhgF"));
  expect(common("card_declined, not CARD_EXPIRED_NOW")).toBe("card_declined, not CARD_EXPIRED_NOW");
});

test("a long word without a digit costs about what other texts of its length cost", () => {
  const length = 20_000;
  // Quadratic time would be a thousand times as much.
  expect(msOf("a".repeat(length))).toBeLessThan(100 * msOf("abcdefghi ".repeat(length / 10)));
});

test("a group tells how many of its events began to fail in each twelfth of its time", async () => {
  const failing = [0, 99, 101, 1199].map((at, seq) => ({
    seq,
    eventId: `evt_${seq}`,
    state: "dead" as const,
    subject: null,
    lastError: "down",
    firstFailedAt: at,
    lastFailedAt: 1200,
    heldCount: 0,
  }));
  const spansOf = async (events: typeof failing): Promise<number[] | undefined> => {
    const store = { failing: async (_: string, state: string) => (state === "dead" ? events : []) };
    return (await readFailures(store, "default"))[0]?.spans;
  };
  expect(await spansOf(failing)).toEqual([2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
  const [first] = failing;
  const alone = { ...first!, firstFailedAt: 1200 };
  expect(await spansOf([alone])).toEqual([1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
});
