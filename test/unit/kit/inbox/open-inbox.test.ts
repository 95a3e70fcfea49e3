import { expect, test } from "vitest";
import { createReceiver, SignalboxError } from "../../../../src/kit/index.js";
import { memoryStore } from "../../../../src/kit/stores/memory.js";
import { rejectionOf } from "../../signalbox-error-of.js";
import { faultyStore, mediumError } from "./faulty-store.js";
import { batchOf, newEvent, opened } from "./new-event.js";
import { startRig } from "./receiver-rig.js";

test("an id that no event can have is not found, and fails no other", async () => {
  const inner = await opened(memoryStore());
  const event = newEvent({ state: "done" });
  await inner.commit(batchOf({ accepts: [event] }));
  /** As a database refuses such a text. */
  const refusing =
    <Args extends readonly [unknown, ...unknown[]], Result>(
      operation: (...args: Args) => Promise<Result>,
    ) =>
    async (...args: Args): Promise<Result> => {
      if (/\\u0000|\\ud800/.test(JSON.stringify(args)))
        throw new SignalboxError("store_row_refused", "refused", "");
      return operation(...args);
    };
  const store: typeof inner = {
    ...inner,
    get: refusing(inner.get),
    replay: refusing(inner.replay),
    discard: refusing(inner.discard),
  };
  const { inbox } = (await startRig({ store })).receiver;
  const ids = ["a\0b", event.eventId, "\ud800"];
  expect(await inbox.get("a\0b")).toBe(undefined);
  expect(await inbox.discard(ids)).toEqual(["not_found", "wrong_state", "not_found"]);
  expect(await inbox.replay(ids)).toEqual(["not_found", "moved", "not_found"]);
  expect(await inbox.replay("\ud800")).toBe("not_found");
});

test("an error after the first portion of a move says how many events were moved before", async () => {
  const inner = await opened(memoryStore());
  const accepts = Array.from({ length: 120 }, () => newEvent({ state: "done" }));
  await inner.commit(batchOf({ accepts }));
  let portions = 0;
  const replay: typeof inner.replay = async (...args) => {
    portions += 1;
    if (portions === 2) throw mediumError();
    return inner.replay(...args);
  };
  const { inbox } = (await startRig({ store: { ...inner, replay } })).receiver;
  const ids = ["evt_unknown", ...accepts.map(({ eventId }) => eventId)];
  const error = await rejectionOf(inbox.replay(ids));
  expect(error.code).toBe("store_failed");
  expect(error.message).toMatch(/\b50 of 121\b.*\b49\b.*The disk is full/);
});

test("when the start fails and the store cannot be closed either, the error is that of the start", async () => {
  const inner = faultyStore();
  inner.fail(mediumError());
  const close = (): Promise<void> => Promise.reject(new Error("and it cannot be closed"));
  const store = { ...inner, close };
  const receiver = createReceiver({
    secrets: "whsec_1",
    store,
    onSignal: () => undefined,
    logger: false,
  });
  const error = await rejectionOf(receiver.start());
  expect(error.message).toContain("The disk is full");
});
