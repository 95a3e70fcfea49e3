import { expect, test } from "vitest";
import { createManualClock, signalEvent, testEvent } from "../../../../src/kit/testing/index.js";

const given = <Value>(value: unknown): Value => value as Value;

test("a misspelt signal type is refused, with the type that was probably meant", () => {
  const call = () => signalEvent("price_increasd");
  expect(call).toThrow(
    expect.objectContaining({ name: "SignalboxError", code: "option_unknown" }) as Error,
  );
  expect(call).toThrow(/no signal type "price_increasd"\. Did you mean "price_increased"\?/);
});

const INVALID: readonly (readonly [call: () => unknown, says: RegExp])[] = [
  [
    () => signalEvent(given(5)),
    /The overrides of signalEvent are invalid: expected an object, not a number/,
  ],
  [() => signalEvent("new_model", given("x")), /expected an object, not a string/],
  [
    () => signalEvent({ data: given<never>([]) }),
    /"data" of signalEvent is invalid: expected an object, not a list/,
  ],
  [() => testEvent(given("x")), /The overrides of testEvent/],
  [() => createManualClock(NaN), /createManualClock was given NaN/],
  [() => createManualClock().setNow(given("now")), /clock\.setNow was given now/],
];

test.each(INVALID)("what fits no argument is refused, and says what does: %s", (call, says) => {
  expect(call).toThrow(
    expect.objectContaining({ name: "SignalboxError", code: "option_invalid" }) as Error,
  );
  expect(call).toThrow(says);
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
