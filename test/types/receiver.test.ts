import { pino } from "pino";
import { expectTypeOf, test } from "vitest";
import { systemClock } from "../../src/base/time/clock.js";
import {
  createReceiver,
  isKnownSignalType,
  parseEvent,
  secretFile,
  type Handoff,
  type KnownSignalType,
  type ParsedEvent,
  type ReceiverOptions,
  type SecretsOption,
  type Signal,
  type SignalEvent,
  type StoredEvent,
  type Verification,
} from "../../src/kit/index.js";
import { memoryStore } from "../../src/kit/stores/memory.js";
import {
  createManualClock,
  signalEvent,
  testReceiver,
  waitForEvent,
  type SignalEventOverrides,
} from "../../src/kit/testing/index.js";

// Held by `tsc -p test`: the functions below are never called. Misspelt names: misspelt.test.ts.
const base = { secrets: "whsec_types", store: memoryStore(), onSignal: () => {} };
const typed = (check: (...given: never) => unknown): void => {
  expectTypeOf(check).toBeFunction();
};

test("a callback may be sync or async, take what it wants, and return anything", () => {
  typed(() => {
    createReceiver({ ...base, onSignal: async () => {} });
    createReceiver({ ...base, onSignal: (signal) => signal.data.signal_type });
    createReceiver({ ...base, onTest: async (event) => event.data.message });
    // @ts-expect-error a signal has an id that is text
    createReceiver({ ...base, onSignal: (signal: { id: number }) => signal });
    const onSignal = (_signal: Signal, _handoff: Handoff, next: () => void): void => next();
    // @ts-expect-error no third argument is given
    createReceiver({ ...base, onSignal });
  });
  expectTypeOf<Parameters<ReceiverOptions["onSignal"]>>().toEqualTypeOf<[Signal, Handoff]>();
});

test("secrets come in every documented form", () => {
  // The quick start passes process.env.SIGNALS_SECRET as it is; what is not set is refused at
  // construction.
  type Forms = string | string[] | readonly string[] | undefined;
  expectTypeOf<Forms>().toExtend<SecretsOption>();
  expectTypeOf<() => string | readonly string[]>().toExtend<SecretsOption>();
  expectTypeOf<() => Promise<string> | Promise<string[]>>().toExtend<SecretsOption>();
  expectTypeOf(secretFile).returns.toExtend<SecretsOption>();
  expectTypeOf<number>().not.toExtend<SecretsOption>();
  expectTypeOf<() => number>().not.toExtend<SecretsOption>();
});

test("every option takes what is documented, and undefined for absent", () => {
  const absent: number | undefined = undefined;
  typed(() => {
    createReceiver({
      ...base,
      endpoint: "crm",
      onTest: undefined,
      toleranceSeconds: absent,
      bodyLimitBytes: 1,
      maxQueued: { events: absent },
      handoff: { backoff: (attempt) => attempt * 1000, concurrency: absent },
      retention: { keyDays: absent },
      logger: pino(),
      clock: createManualClock(),
    });
    createReceiver({ ...base, logger: false, handoff: { backoff: { baseMs: absent, factor: 2 } } });
    createReceiver({ ...base, maxQueued: undefined, handoff: undefined, retention: undefined });
    // @ts-expect-error store and onSignal are missing
    createReceiver({ secrets: "whsec_types" });
    // @ts-expect-error secrets are missing
    createReceiver({ store: base.store, onSignal: base.onSignal });
  });
});

test("a receiver's listener gets the event of its name", () => {
  typed(() => {
    const receiver = createReceiver(base);
    receiver.on("rejected", ({ status, code }) => {
      expectTypeOf(status).toBeNumber();
      if (code === "closing") return;
    });
    receiver.on("handoffFailed", ({ error }) => expectTypeOf(error).toBeUnknown());
    expectTypeOf(receiver.on("accepted", () => {})).toEqualTypeOf<() => void>();
    // @ts-expect-error accepted
    receiver.on("acepted", () => {});
    // @ts-expect-error only "rejected" has a status
    receiver.on("dead", ({ status }) => status);
  });
});

test("one id gives one outcome, several give as many, and a state is one that an event can have", () => {
  typed(() => {
    const { inbox } = createReceiver(base);
    expectTypeOf(inbox.replay("evt_1")).resolves.toBeString();
    expectTypeOf(inbox.replay(["evt_1"] as const)).resolves.toBeArray();
    // @ts-expect-error dead
    void inbox.list({ state: "deed" });
    // @ts-expect-error an id, not an entry
    void inbox.replay({ eventId: "evt_1" });
    // @ts-expect-error several ids are one list
    void inbox.discard("evt_1", "evt_2");
  });
  expectTypeOf<ReturnType<typeof createReceiver>>().toExtend<AsyncDisposable>();
});

test("a test's receiver takes the options of createReceiver, and none has to be given", () => {
  typed(() => {
    void testReceiver();
    void testReceiver({ ...base, clock: createManualClock(), secrets: ["a", "b"] });
    // @ts-expect-error onSignal
    void testReceiver({ onSignl: base.onSignal });
    void testReceiver({ tenant: () => "acme", secrets: ({ tenant }) => [tenant] });
    // @ts-expect-error a test moves its clock
    void testReceiver({ clock: systemClock });
    const receiver = createReceiver(base);
    const dead = waitForEvent(receiver, "evt_1", { state: "dead", timeoutMs: undefined });
    expectTypeOf(dead).resolves.toEqualTypeOf<StoredEvent>();
    // @ts-expect-error a lease begins and ends unseen
    void waitForEvent(receiver, "evt_1", { state: "leased" });
  });
});

test("a signal's type narrows to the known ones and takes any other; directions and units are open", () => {
  typed(({ data: { signal_type: type, change } }: Signal) => {
    // @ts-expect-error a signal type is text
    if (type === 1 || type === "a_type_of_next_year") return;
    if (change.direction === "sideways" || change.before.unit === "parsecs") return;
    if (isKnownSignalType(type)) {
      expectTypeOf(type).toExtend<KnownSignalType>();
      // @ts-expect-error price_increased
      if (type === "pirce_increased") return;
    } else {
      expectTypeOf(type).toBeString();
    }
  });
  // An editor offers the known ones: they are not swallowed by string.
  expectTypeOf<Signal["data"]["signal_type"]>().not.toEqualTypeOf<string>();
});

test("what the service adds later can be read as unknown", () => {
  const read = (signal: Signal) => [
    (signal as Record<string, unknown>)["added_later"],
    (signal.data.product as { tier?: unknown }).tier,
  ];
  expectTypeOf(read).returns.toEqualTypeOf<unknown[]>();
});

test("a parsed event narrows by kind and by type", () => {
  typed((parsed: ParsedEvent) => {
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
  });
  expectTypeOf(parseEvent).returns.toEqualTypeOf<ParsedEvent>();
});

test("a verification is looked at before its reason, and a hand-off is read only", () => {
  typed((verification: Verification, handoff: Handoff) => {
    if (verification.ok) expectTypeOf(verification.secretIndex).toBeNumber();
    // @ts-expect-error there is a reason only if it is not ok
    void verification.reason;
    // @ts-expect-error the attempt is not the callback's to change
    handoff.attempt = 2;
  });
});

test("overrides of a test's signal may be deep and partial, and not of another kind", () => {
  typed(() => {
    signalEvent({ data: { product: { slug: "acme" }, change: { after: { value: 2 } } } });
    signalEvent({ added_later: 1, data: { padding: "p" } } as SignalEventOverrides);
    signalEvent("a_type_of_next_year", { data: { title: "t" } });
    // @ts-expect-error an id of a product is a number
    signalEvent({ data: { product: { id: "4711" } } });
    // @ts-expect-error an id of an event is text
    signalEvent("price_increased", { id: 1 });
  });
  expectTypeOf(signalEvent).returns.toEqualTypeOf<SignalEvent>();
});
