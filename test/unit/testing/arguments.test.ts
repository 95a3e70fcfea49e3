import { expect, test } from "vitest";
import { type SignalEvent } from "../../../src/index.js";
import { createManualClock, signalEvent, testEvent, verificationEvent } from "../../../src/testing/index.js";

const given = <Value>(value: unknown): Value => value as Value;

const SLIPS: readonly (readonly [call: () => unknown, says: RegExp])[] = [
  [() => signalEvent("price_increasd"), /no signal type "price_increasd"\. Did you mean "price_increased"\?/],
  [() => signalEvent(given({ dta: {} })), /has no "dta", which signalEvent was given\. Did you mean "data"\?/],
  [() => signalEvent({ data: { prodct: {} } }), /no "data\.prodct".* Did you mean "product"\?/],
  [() => signalEvent("new_model", { data: { change: { beforre: {} } } }), /"data\.change\.beforre".*"before"/],
  [() => testEvent({ data: { mesage: "" } }), /which testEvent was given.*"message"/],
  [() => verificationEvent({ data: { chalenge: "" } }), /"challenge"/],
];

test.each(SLIPS)("a slip is refused, with the name that was meant: %s", (call, says) => {
  expect(call).toThrow(expect.objectContaining({ name: "SignalboxError", code: "option_unknown" }) as Error);
  expect(call).toThrow(says);
});

const INVALID: readonly (readonly [call: () => unknown, says: RegExp])[] = [
  [() => signalEvent(given(5)), /The overrides of signalEvent are invalid: expected an object, not a number/],
  [() => signalEvent(given(null)), /expected an object, not null/],
  [() => signalEvent("new_model", given("x")), /expected an object, not a string/],
  [() => signalEvent({ data: { product: given<never>("acme") } }), /"data\.product" of signalEvent is invalid/],
  [() => signalEvent({ data: given<never>([]) }), /"data" of signalEvent is invalid: expected an object, not a list/],
  [() => testEvent(given("x")), /The overrides of testEvent/],
  [() => createManualClock(NaN), /createManualClock was given NaN/],
  [() => createManualClock().setNow(given("now")), /clock\.setNow was given now/],
];

test.each(INVALID)("what fits no argument is refused, and says what does: %s", (call, says) => {
  expect(call).toThrow(expect.objectContaining({ name: "SignalboxError", code: "option_invalid" }) as Error);
  expect(call).toThrow(says);
});

test.each([-5, NaN, Infinity, given<number>("5")])("a clock does not advance by %s", async (ms) => {
  const clock = createManualClock(1000);
  await expect(clock.advance(ms)).rejects.toMatchObject({ code: "option_invalid" });
  expect([clock.now(), clock.elapsed()]).toEqual([1000, 0]);
});

test.each(["a_type_of_next_year", "entered_category_top_50", "x", "price_history_published"])(
  "a type that the service may add is no slip: %s",
  (type) => {
    expect(signalEvent(type).data.signal_type).toBe(type);
  },
);

test("a new name that is a near miss of a known one can be given", () => {
  expect(signalEvent({ data: { signal_type: "new_models" } }).data.signal_type).toBe("new_models");
  const event = { ...signalEvent(), dta: 1 };
  expect(event.dta).toBe(1);
});

test("properties that the service may add are no slips", () => {
  const added = {
    x: 1,
    data: { tag: 1, sku: "1", product: { tier: "gold", name: "Acme", q: 1 }, titles: [], title: "t" },
  };
  expect(signalEvent(given<Partial<SignalEvent>>(added))).toMatchObject(added);
});
