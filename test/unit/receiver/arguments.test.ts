import { expect, onTestFinished, test } from "vitest";
import { createReceiver, PermanentFailure, RetryLater } from "../../../src/index.js";
import { memoryStore } from "../../../src/stores/memory.js";
import { sqliteStore } from "../../../src/stores/sqlite/sqlite-store.js";
import { rejectionOf } from "../signalbox-error-of.js";

const receiver = createReceiver({ secrets: "whsec_test", store: memoryStore(), onSignal: () => {}, logger: false });
const { inbox } = receiver;
const given = <Value>(value: unknown): Value => value as Value;

const MISSPELT: readonly (readonly [call: () => unknown, name: string, meant: string | null])[] = [
  [() => receiver.on(given<"accepted">("acepted"), () => {}), "acepted", "accepted"],
  [() => receiver.on(given<"dead">("handoffFail"), () => {}), "handoffFail", "handoffFailed"],
  [() => receiver.on(given<"dead">(undefined), () => {}), "undefined", null],
  [() => receiver.close(given({ grace: 1 })), "grace", "graceMs"],
  [() => inbox.list(given({ sate: "dead" })), "sate", "state"],
  [() => inbox.list(given({ after: 1 })), "after", "afterSeq"],
  [() => new RetryLater("later", given({ delay: 5 })), "delay", "delayMs"],
  [() => new PermanentFailure("never", given({ couse: new Error("x") })), "couse", "cause"],
  [() => sqliteStore(given({ path: "signals.db", share: true })), "share", "shared"],
];

test.each(MISSPELT)(
  "a misspelt name is refused, with the name that was probably meant: %s",
  async (call, name, meant) => {
    const error = await rejectionOf((async () => call())());
    expect(error.code).toBe("option_unknown");
    expect(error.message).toContain(`"${name}"`);
    expect(error.help).toContain(meant === null ? "Known are" : `Did you mean "${meant}"?`);
  },
);

const INVALID: readonly (readonly [call: () => unknown, says: string])[] = [
  [() => receiver.on("accepted", given(undefined)), "function"],
  [() => receiver.close({ graceMs: -1 }), "graceMs"],
  [() => receiver.close({ graceMs: Infinity }), "graceMs"],
  [() => receiver.close(given("SIGTERM")), "receiver.close"],
  [() => inbox.list({ limit: 1.5 }), "limit"],
  [() => inbox.list(given({ state: "deed" })), "state"],
  [() => inbox.replay(given(undefined)), "inbox.replay"],
  [() => inbox.replay(given({ eventId: "evt_1" })), "inbox.replay"],
  [() => inbox.discard(given(["evt_1", 2])), "inbox.discard"],
  [() => new RetryLater("later", given(5)), "RetryLater"],
];

test.each(INVALID)("an argument of the wrong kind is refused: %s", async (call, says) => {
  const error = await rejectionOf((async () => call())());
  expect(error.code).toBe("option_invalid");
  expect(error.message).toContain(says);
});

test("a refused close leaves the receiver open", async () => {
  await receiver.start();
  onTestFinished(() => receiver.close({ graceMs: 0.5 }));
  await rejectionOf(receiver.close(given({ grace: 1 })));
  expect(receiver.health().state).toBe("running");
  expect(await inbox.list({ state: undefined, limit: 1 })).toEqual([]);
});
