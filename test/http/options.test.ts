import { expect, test } from "vitest";
import { createReceiver, isSignalboxError, SignalboxError, type ReceiverOptions } from "../../src/index.js";
import { memoryStore } from "../../src/stores/memory.js";

function refusal(options: object): SignalboxError {
  const usable = { secrets: "whsec_test", store: memoryStore(), onSignal: () => undefined, logger: false };
  try {
    createReceiver({ ...usable, ...options } as ReceiverOptions);
  } catch (error) {
    if (isSignalboxError(error)) return error;
    throw error;
  }
  throw new Error("createReceiver took them");
}

test.for([
  { secrets: "" },
  { secrets: " \t\n" },
  { secrets: undefined },
  { secrets: null },
  { secrets: 7 },
  { secrets: { 0: "whsec_test" } },
  { secrets: Buffer.from("whsec_test") },
  { secrets: [] },
  { secrets: [""] },
  { secrets: ["whsec_test", " "] },
  { secrets: ["whsec_test", undefined] },
  { secrets: [["whsec_test"]] },
])("secrets that could not sign are refused at construction: %o", (options) => {
  const error = refusal(options);
  expect(error).toBeInstanceOf(SignalboxError);
  expect(error.code).toBe("secret_invalid");
  expect(error.help).not.toBe("");
  expect(error.message).not.toContain("whsec_test");
});

test.for([
  { options: { onsignal: () => undefined }, name: "onsignal", meant: "onSignal" },
  { options: { toleranceSecond: 1 }, name: "toleranceSecond", meant: "toleranceSeconds" },
  { options: { secret: "x" }, name: "secret", meant: "secrets" },
  { options: { bodyLimitByte: 1 }, name: "bodyLimitByte", meant: "bodyLimitBytes" },
  { options: { handoff: { concurency: 1 } }, name: "handoff.concurency", meant: "concurrency" },
  { options: { handoff: { backoff: { maxMS: 1 } } }, name: "handoff.backoff.maxMS", meant: "maxMs" },
  { options: { retention: { keydays: 3 } }, name: "retention.keydays", meant: "keyDays" },
  { options: { maxQueued: { event: 3 } }, name: "maxQueued.event", meant: "events" },
])("a misspelt option is refused by name: $name", ({ options, name, meant }) => {
  const error = refusal(options);
  expect(error.code).toBe("option_unknown");
  expect(error.message).toContain(`"${name}"`);
  expect(error.help).toContain(`"${meant}"`);
});

test("an option that resembles none is refused with the list of those there are", () => {
  const error = refusal({ wholeheartedly: true });
  expect(error.code).toBe("option_unknown");
  expect(error.help).toContain("onSignal");
});

test.for([
  { store: undefined },
  { store: {} },
  { onSignal: undefined },
  { onSignal: "callback" },
  { onTest: 1 },
  { endpoint: "" },
  { endpoint: "a/b" },
  { toleranceSeconds: 0 },
  { toleranceSeconds: Number.NaN },
  { toleranceSeconds: Number.POSITIVE_INFINITY },
  { toleranceSeconds: "300" },
  { bodyLimitBytes: 0 },
  { bodyLimitBytes: 1.5 },
  { bodyTimeoutMs: -1 },
  { ackTimeoutMs: 2 ** 31 },
  { secretWaitMs: -1 },
  { secretWaitMs: 0.5 },
  { secretWaitMs: "2000" },
  { secretWaitMs: 3000 },
  { ackTimeoutMs: 500, secretWaitMs: 500 },
  { maxQueued: { bytes: 1 } },
  { handoff: { concurrency: 0 } },
  { handoff: { maxAttempts: null } },
  { retention: { keyDays: 1 } },
  { retention: { keyDays: 3, payloadDays: 4 } },
  { logger: true },
  { clock: {} },
])("an option out of its range is refused: %o", (options) => {
  expect(refusal(options).code).toBe("option_invalid");
});

test("undefined means absent, and the options stay as they were given", () => {
  const options = Object.freeze({
    secrets: Object.freeze(["whsec_test"]),
    store: memoryStore(),
    onSignal: () => undefined,
    onTest: undefined,
    endpoint: undefined,
    bodyLimitBytes: undefined,
    handoff: Object.freeze({}),
    logger: false as const,
  });
  expect(createReceiver(options).health()).toMatchObject({ endpoint: "default", state: "idle", ok: false });
});
