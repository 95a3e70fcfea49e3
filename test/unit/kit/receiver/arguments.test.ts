import { expect, test } from "vitest";
import { createReceiver, PermanentFailure, RetryLater } from "../../../../src/kit/index.js";
import { DEFAULT_GRACE_MS } from "../../../../src/kit/receiver/receiver.js";
import { memoryStore } from "../../../../src/kit/stores/memory.js";
import { sqliteStore } from "../../../../src/kit/stores/sqlite/sqlite-store.js";
import { rejectionOf } from "../../signalbox-error-of.js";
import { startRig } from "../inbox/receiver-rig.js";

const receiver = createReceiver({
  secrets: "whsec_test",
  store: memoryStore(),
  onSignal: () => {},
  logger: false,
});
const { inbox } = receiver;
const given = <Value>(value: unknown): Value => value as Value;

const MISSPELT: readonly (readonly [call: () => unknown, name: string, help: string])[] = [
  [() => receiver.on(given<"dead">("acepted"), () => {}), "acepted", 'Did you mean "accepted"?'],
  [() => receiver.on(given<"dead">(undefined), () => {}), "undefined", "Known are"],
  [() => inbox.list(given({ after: 1 })), "after", 'Did you mean "afterSeq"?'],
  [() => sqliteStore(given({ path: "a.db", share: true })), "share", 'Did you mean "shared"?'],
];

test.each(MISSPELT)(
  "a misspelt name is refused, with what was meant: %s",
  async (call, name, help) => {
    const error = await rejectionOf((async () => call())());
    expect(error.code).toBe("option_unknown");
    expect(error.message).toContain(`"${name}"`);
    expect(error.help).toContain(help);
  },
);

const INVALID: readonly (readonly [call: () => unknown, says: string])[] = [
  [() => receiver.on("accepted", given(undefined)), "function"],
  [() => inbox.list({ limit: 1.5 }), "limit"],
  [() => inbox.list(given({ state: "deed" })), "state"],
  [() => inbox.get(given(undefined)), "inbox.get"],
  [() => inbox.replay(given(undefined)), "inbox.replay"],
  [() => inbox.replay(given({ eventId: "evt_1" })), "inbox.replay"],
  [() => inbox.discard(given(["evt_1", 2])), "inbox.discard"],
];

test.each(INVALID)("an argument of the wrong kind is refused: %s", async (call, says) => {
  const error = await rejectionOf((async () => call())());
  expect(error.code).toBe("option_invalid");
  expect(error.message).toContain(says);
});

test("what a callback throws is made whatever its options are, because an error here would change the event's fate", () => {
  for (const options of [{ delay: 5 }, 5])
    expect(new RetryLater("later", given(options)).delayMs).toBe(60_000);
  expect(new PermanentFailure("never", given({ couse: 1 })).code).toBe("permanent_failure");
});

test.each([{ grace: 1 }, { graceMs: -1 }, { graceMs: "5" }, "SIGTERM"])(
  "close refuses nothing, because the process may end after it: %j",
  async (options) => {
    const { receiver: running, clock, begin } = await startRig();
    await begin(1);
    const closing = running.close(given(options));
    await clock.advance(DEFAULT_GRACE_MS - 1);
    expect(running.health().state).toBe("closing");
    await clock.advance(1);
    await closing;
  },
);

test("drain refuses nothing either", async () => {
  const { receiver: running, clock, begin } = await startRig();
  await begin(1);
  const draining = running.drain(given({ timeoutMs: Number.NaN }));
  await clock.advance(35_000);
  // The callback has timed out, and no other event is due.
  expect(await draining).toBe(true);
});
