import { expectTypeOf, test } from "vitest";
import {
  isKnownSignalType,
  parseEvent,
  type Handoff,
  type KnownSignalType,
  type ParsedEvent,
  type Signal,
  type SignalEvent,
  type TestEvent,
  type Verification,
} from "../../src/index.js";
import { signalEvent, testEvent } from "../../src/testing/index.js";

test("a signal's type narrows to the known ones and takes any other", () => {
  const read = ({ data: { signal_type: type } }: Signal): void => {
    if (type === "price_increased" || type === "a_type_of_next_year") return;
    if (isKnownSignalType(type)) expectTypeOf(type).toExtend<KnownSignalType>();
    else expectTypeOf(type).toBeString();
    // @ts-expect-error a signal type is text
    if (type === 1) return;
  };
  expectTypeOf(read).toBeFunction();
  // An editor offers the known ones: they are not swallowed by string.
  expectTypeOf<Signal["data"]["signal_type"]>().not.toEqualTypeOf<string>();
  expectTypeOf<"a_type_of_next_year">().toExtend<Signal["data"]["signal_type"]>();
  expectTypeOf<string>().toExtend<Signal["data"]["signal_type"]>();
  expectTypeOf<number>().not.toExtend<Signal["data"]["signal_type"]>();
});

test("directions and units are open sets", () => {
  expectTypeOf<string>().toExtend<Signal["data"]["change"]["direction"]>();
  expectTypeOf<string>().toExtend<Signal["data"]["change"]["before"]["unit"]>();
});

test("what the service adds later is unknown, not any", () => {
  expectTypeOf<Signal["added_later"]>().toBeUnknown();
  expectTypeOf<Signal["data"]["added_later"]>().toBeUnknown();
  expectTypeOf<Signal["data"]["product"]["added_later"]>().toBeUnknown();
});

test("a parsed event narrows by kind and by type", () => {
  const read = (parsed: ParsedEvent): void => {
    if (parsed.kind === "unusable") {
      expectTypeOf(parsed.path).toEqualTypeOf<string | undefined>();
    } else if (parsed.kind === "unknown") {
      expectTypeOf(parsed.event.data).toBeUnknown();
    } else if (parsed.event.type === "signal.published") {
      expectTypeOf(parsed.event).toEqualTypeOf<SignalEvent>();
    } else if (parsed.event.type === "webhook.test") {
      expectTypeOf(parsed.event.data.message).toBeString();
    } else {
      expectTypeOf(parsed.event.data.challenge).toBeString();
    }
  };
  expectTypeOf(parseEvent).returns.toEqualTypeOf<ParsedEvent>();
  expectTypeOf(read).toBeFunction();
});

test("a verification must be looked at before its time or its reason", () => {
  const read = (verification: Verification): void => {
    if (verification.ok) expectTypeOf(verification.secretIndex).toBeNumber();
    else expectTypeOf(verification.reason).toBeString();
    // @ts-expect-error there is a reason only if it is not ok
    void verification.reason;
  };
  expectTypeOf(read).toBeFunction();
});

test("a hand-off is read only", () => {
  const write = (handoff: Handoff): void => {
    // @ts-expect-error the attempt is not the callback's to change
    handoff.attempt = 2;
  };
  expectTypeOf(write).toBeFunction();
  expectTypeOf<Handoff["abortSignal"]>().toEqualTypeOf<AbortSignal>();
  expectTypeOf<Handoff["rawBody"]>().toExtend<Uint8Array>();
});

test("overrides of a test's signal may be deep and partial, and not of another kind", () => {
  signalEvent({ data: { product: { slug: "acme" }, change: { after: { value: 2 } } } });
  signalEvent("price_increased", { data: { title: "t" }, added_later: 1 });
  signalEvent("a_type_of_next_year");
  expectTypeOf(signalEvent).returns.toEqualTypeOf<SignalEvent>();
  // @ts-expect-error an id of a product is a number
  signalEvent({ data: { product: { id: "4711" } } });
  // @ts-expect-error an id of an event is text
  signalEvent({ id: 1 });
  // @ts-expect-error so it is beside a type
  signalEvent("price_increased", { id: 1 });
  // @ts-expect-error a message is text
  testEvent({ data: { message: 1 } });
});

test("a test event has a message", () => {
  expectTypeOf<TestEvent["data"]["message"]>().toBeString();
});
