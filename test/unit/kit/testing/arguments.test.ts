import { expect, test } from "vitest";
import { createManualClock, signalEvent, testEvent } from "../../../../src/kit/testing/index.js";
import { errorOf } from "../../signalbox-error-of.js";

const given = <Value>(value: unknown): Value => value as Value;

test("a misspelt signal type is refused, with the type that was probably meant", () => {
  const { code, message } = errorOf(() => signalEvent("price_increasd"));
  expect(code).toBe("option_unknown");
  expect(message).toContain('no signal type "price_increasd". Did you mean "price_increased"?');
});

const INVALID: readonly (readonly [call: () => unknown, says: RegExp])[] = [
  [() => signalEvent(given(5)), /overrides of signalEvent .*expected an object, not a number/],
  [() => signalEvent({ data: given<never>([]) }), /"data" of signalEvent .*an object, not a list/],
  [() => testEvent(given("x")), /The overrides of testEvent/],
  [() => createManualClock(NaN), /createManualClock was given NaN/],
  [() => createManualClock().setNow(given("now")), /clock\.setNow was given now/],
];

test.each(INVALID)("what fits no argument is refused, and says what does: %s", (call, says) => {
  const { code, message } = errorOf(call);
  expect([code, message]).toEqual(["option_invalid", expect.stringMatching(says)]);
});

test.each([-5, NaN, Infinity, given<number>("5")])("a clock does not advance by %s", async (ms) => {
  const clock = createManualClock(1000);
  await expect(clock.advance(ms)).rejects.toMatchObject({ code: "option_invalid" });
  expect([clock.now(), clock.elapsed()]).toEqual([1000, 0]);
});

test("a type that the service may add is no slip, and one near a known type can be given as data", () => {
  for (const type of ["a_type_of_next_year", "entered_category_top_50"])
    expect(signalEvent(type).data.signal_type).toBe(type);
  expect(signalEvent({ data: { signal_type: "new_models" } }).data.signal_type).toBe("new_models");
});
