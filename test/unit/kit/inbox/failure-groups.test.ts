import { expect, test } from "vitest";
import { commonError } from "../../../../src/kit/inbox/failures.js";

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
