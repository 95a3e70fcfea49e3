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
  type VerificationEvent,
} from "../../src/kit/index.js";
import { signalEvent, testEvent, type SignalEventOverrides } from "../../src/kit/testing/index.js";

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

test("a misspelt property of an event does not compile", () => {
  const read = (signal: Signal, tested: TestEvent, verification: VerificationEvent) => [
    // @ts-expect-error created_at
    signal.createdAt,
    // @ts-expect-error title
    signal.data.titel,
    // @ts-expect-error slug
    signal.data.product.slag,
    // @ts-expect-error magnitude
    signal.data.change.magnitud,
    // @ts-expect-error value
    signal.data.change.after.val,
    // @ts-expect-error start
    signal.data.period.begin,
    // @ts-expect-error message
    tested.data.mesage,
    // @ts-expect-error challenge
    verification.data.chalenge,
  ];
  expectTypeOf(read).toBeFunction();
});

test("what the service adds later can be read as unknown", () => {
  const read = (signal: Signal) => [
    (signal as Record<string, unknown>)["added_later"],
    (signal.data as Record<string, unknown>)["added_later"],
    (signal.data.product as { tier?: unknown }).tier,
    (signal.data.change.after as Record<string, unknown>)["added_later"],
  ];
  expectTypeOf(read).returns.toEqualTypeOf<unknown[]>();
});

test("a misspelt known type does not compile after isKnownSignalType", () => {
  const read = ({ data: { signal_type: type } }: Signal): boolean => {
    if (!isKnownSignalType(type)) return false;
    // @ts-expect-error price_increased
    return type === "pirce_increased";
  };
  expectTypeOf(read).toBeFunction();
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
  signalEvent("price_increased", { data: { title: "t" } });
  signalEvent({ added_later: 1, data: { padding: "p" } } as SignalEventOverrides);
  signalEvent("a_type_of_next_year");
  expectTypeOf(signalEvent).returns.toEqualTypeOf<SignalEvent>();
  // @ts-expect-error an id of a product is a number
  signalEvent({ data: { product: { id: "4711" } } });
  // @ts-expect-error an id of an event is text
  signalEvent({ id: 1 });
  // @ts-expect-error so it is beside a type
  signalEvent("price_increased", { id: 1 });
  // @ts-expect-error title
  signalEvent("price_increased", { data: { titel: "t" } });
  // @ts-expect-error value
  signalEvent({ data: { change: { after: { valeu: 2 } } } });
  // @ts-expect-error a message is text
  testEvent({ data: { message: 1 } });
  // @ts-expect-error message
  testEvent({ data: { mesage: "m" } });
});

test("a test event has a message", () => {
  expectTypeOf<TestEvent["data"]["message"]>().toBeString();
});
