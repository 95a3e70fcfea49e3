import { pino } from "pino";
import { expectTypeOf, test } from "vitest";
import { systemClock } from "../../src/base/time/clock.js";
import {
  createReceiver,
  PermanentFailure,
  RetryLater,
  type Handoff,
  secretFile,
  type ReceiverOptions,
  type SecretsOption,
  type Signal,
  type StoredEvent,
} from "../../src/kit/index.js";
import { memoryStore } from "../../src/kit/stores/memory.js";
import { sqliteStore } from "../../src/kit/stores/sqlite/sqlite-store.js";
import { createManualClock, testReceiver, waitForEvent } from "../../src/kit/testing/index.js";

// Held by `tsc -p test`: the functions below are never called.
const base = { secrets: "whsec_types", store: memoryStore(), onSignal: () => {} };
const typed = (check: () => void): void => {
  expectTypeOf(check).toBeFunction();
};

test("a callback may be sync or async, take what it wants, and return anything", () => {
  typed(() => {
    createReceiver({ ...base, onSignal: () => {} });
    createReceiver({ ...base, onSignal: async () => {} });
    createReceiver({ ...base, onSignal: (signal) => signal.data.signal_type });
    createReceiver({
      ...base,
      onSignal: async (signal, handoff) => [signal.id, handoff.deliveryKey],
    });
    createReceiver({ ...base, onTest: async (event) => event.data.message });
  });
  expectTypeOf<Parameters<ReceiverOptions["onSignal"]>>().toEqualTypeOf<[Signal, Handoff]>();
});

test("a callback that wants something else is refused", () => {
  typed(() => {
    // @ts-expect-error a signal has an id that is text
    createReceiver({ ...base, onSignal: (signal: { id: number }) => signal });
    const onSignal = (_signal: Signal, _handoff: Handoff, next: () => void): void => next();
    // @ts-expect-error no third argument is given
    createReceiver({ ...base, onSignal });
  });
});

test("secrets come in every documented form", () => {
  expectTypeOf<string>().toExtend<SecretsOption>();
  expectTypeOf<string[]>().toExtend<SecretsOption>();
  expectTypeOf<readonly string[]>().toExtend<SecretsOption>();
  expectTypeOf<() => string>().toExtend<SecretsOption>();
  expectTypeOf<() => readonly string[]>().toExtend<SecretsOption>();
  expectTypeOf<() => Promise<string>>().toExtend<SecretsOption>();
  expectTypeOf<() => Promise<string[]>>().toExtend<SecretsOption>();
  expectTypeOf(secretFile).returns.toExtend<SecretsOption>();
  // The quick start passes process.env.SIGNALS_SECRET as it is; what is not set is refused at
  // construction.
  expectTypeOf<string | undefined>().toExtend<SecretsOption>();
  expectTypeOf<number>().not.toExtend<SecretsOption>();
  expectTypeOf<() => number>().not.toExtend<SecretsOption>();
});

test("a misspelt option is refused, at every level", () => {
  typed(() => {
    // @ts-expect-error endpoint
    createReceiver({ ...base, endpont: "crm" });
    // @ts-expect-error toleranceSeconds
    createReceiver({ ...base, tolerance: 300 });
    // @ts-expect-error concurrency
    createReceiver({ ...base, handoff: { concurency: 2 } });
    // @ts-expect-error baseMs
    createReceiver({ ...base, handoff: { backoff: { base: 2 } } });
    // @ts-expect-error keyDays
    createReceiver({ ...base, retention: { keydays: 2 } });
    // @ts-expect-error shared
    sqliteStore({ path: "signals.db", share: true });
  });
});

test("a required option cannot be left out", () => {
  typed(() => {
    // @ts-expect-error store and onSignal are missing
    createReceiver({ secrets: "whsec_types" });
    // @ts-expect-error secrets are missing
    createReceiver({ store: base.store, onSignal: base.onSignal });
  });
});

test("every option takes what is documented, and undefined for absent", () => {
  typed(() => {
    createReceiver({
      ...base,
      endpoint: "crm",
      onTest: undefined,
      toleranceSeconds: undefined,
      bodyLimitBytes: 1,
      bodyTimeoutMs: undefined,
      ackTimeoutMs: 1,
      secretWaitMs: 0,
      maxQueued: { events: 1 },
      handoff: { backoff: (attempt) => attempt * 1000 },
      retention: { keyDays: 60 },
      logger: pino(),
      clock: createManualClock(),
    });
    createReceiver({
      ...base,
      maxQueued: undefined,
      handoff: undefined,
      retention: undefined,
      clock: undefined,
    });
    createReceiver({
      ...base,
      logger: false,
      handoff: { backoff: { baseMs: 1, factor: 2, maxMs: 3 } },
    });
    const absent: number | undefined = undefined;
    createReceiver({ ...base, maxQueued: { events: absent }, retention: { keyDays: absent } });
    createReceiver({ ...base, handoff: { concurrency: absent, backoff: { baseMs: absent } } });
    sqliteStore({ path: "signals.db", shared: undefined });
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
    // @ts-expect-error there is no such event
    receiver.on("delivered", () => {});
    // @ts-expect-error accepted
    receiver.on("acepted", () => {});
    // @ts-expect-error eventId
    receiver.on("accepted", ({ eventID }) => eventID);
    // @ts-expect-error only "rejected" has a status
    receiver.on("dead", ({ status }) => status);
    // @ts-expect-error no second argument is given
    receiver.on("dead", (_event, receivedAt) => receivedAt);
  });
});

test("a misspelt option of a method, or of what a callback throws, does not compile", () => {
  typed(() => {
    const receiver = createReceiver(base);
    const { inbox } = receiver;
    void receiver.close({ graceMs: undefined });
    // @ts-expect-error graceMs
    void receiver.close({ grace: 1 });
    // @ts-expect-error state
    void inbox.list({ sate: "dead" });
    // @ts-expect-error dead
    void inbox.list({ state: "deed" });
    // @ts-expect-error a receiver lists its own endpoint
    void inbox.list({ endpoint: "crm" });
    // @ts-expect-error an id, not an entry
    void inbox.replay({ eventId: "evt_1" });
    // @ts-expect-error several ids are one list
    void inbox.discard("evt_1", "evt_2");
    // @ts-expect-error delayMs
    void new RetryLater("later", { delay: 5 });
    // @ts-expect-error cause
    void new PermanentFailure("never", { couse: new Error("x") });
  });
});

test("a test's receiver takes the options of createReceiver, and none has to be given", () => {
  typed(() => {
    void testReceiver();
    void testReceiver({
      ...base,
      clock: createManualClock(),
      logger: undefined,
      secrets: ["a", "b"],
    });
    // @ts-expect-error onSignal
    void testReceiver({ onSignl: base.onSignal });
    // @ts-expect-error it has to sign with it
    void testReceiver({ secrets: () => "whsec_types" });
    // @ts-expect-error a test moves its clock
    void testReceiver({ clock: systemClock });
  });
});

test("an event is waited for in a state in which it can rest", () => {
  const receiver = createReceiver({ ...base, logger: false });
  typed(() => {
    const dead = waitForEvent(receiver, "evt_1", { state: "dead", timeoutMs: undefined });
    expectTypeOf(dead).resolves.toEqualTypeOf<StoredEvent>();
    // @ts-expect-error a lease begins and ends unseen
    void waitForEvent(receiver, "evt_1", { state: "leased" });
  });
});

test("one id gives one outcome, several give as many", () => {
  const { inbox } = createReceiver({ ...base, logger: false });
  expectTypeOf(inbox.replay).toBeCallableWith("evt_1");
  expectTypeOf<Awaited<ReturnType<typeof inbox.discard>>>().toBeArray();
  typed(() => {
    expectTypeOf(inbox.replay("evt_1")).resolves.toBeString();
    expectTypeOf(inbox.replay(["evt_1"] as const)).resolves.toBeArray();
  });
});

test("a receiver can be disposed of by await using", () => {
  expectTypeOf<ReturnType<typeof createReceiver>>().toExtend<AsyncDisposable>();
});
