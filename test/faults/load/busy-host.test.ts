import { expect, test } from "vitest";
import { systemClock } from "../../../src/base/time/clock.js";
import { createReceiver, type SignalEvent } from "../../../src/kit/index.js";
import { memoryStore } from "../../../src/kit/stores/memory.js";
import { sqliteStore } from "../../../src/kit/stores/sqlite/sqlite-store.js";
import { signalEvent, signedDelivery } from "../../../src/kit/testing/index.js";
import { batchOf, newEvent, opened } from "../../unit/kit/inbox/new-event.js";
import { eventually } from "../eventually.js";
import { inboxFiles } from "../inbox-file.js";
import { SECRET } from "../sender.js";

function delivery(event: SignalEvent = signalEvent()) {
  return { method: "POST", ...signedDelivery(event, { secret: SECRET }) };
}

/** Keeps the event loop, as a callback does that computes. */
function block(ms: number): void {
  const startedAt = performance.now();
  while (performance.now() - startedAt < ms);
}

test("callbacks that block begin one to a turn of the event loop, with deliveries answered in between", async () => {
  const store = await opened(memoryStore(), systemClock);
  const backlog = Array.from({ length: 50 }, () => newEvent());
  await store.commit(batchOf({ accepts: backlog }));
  await store.close("default");
  let begun = 0;
  const receiver = createReceiver({
    secrets: SECRET,
    store,
    logger: false,
    onSignal() {
      begun += 1;
      block(20);
    },
  });
  await receiver.start();
  let answered = 0;
  const eachTurn: number[] = [];
  while (begun < backlog.length) {
    const before = begun;
    if (eachTurn.length % 10 === 0)
      void receiver.handle(delivery()).then(({ status }) => (answered += Number(status === 200)));
    await new Promise((resume) => setImmediate(resume));
    eachTurn.push(begun - before);
  }
  // Two, since a turn of ours may see the end of one of theirs and the next.
  expect(Math.max(...eachTurn), eachTurn.join(" ")).toBeLessThanOrEqual(2);
  expect(answered).toBeGreaterThan(2);
  await receiver.close();
});

test("a host that fills every turn of the event loop with work of its own gets its deliveries answered and handed off", async () => {
  const handedOff: string[] = [];
  const receiver = createReceiver({
    secrets: SECRET,
    store: sqliteStore(inboxFiles().db),
    logger: false,
    onSignal: ({ id }) => void handedOff.push(id),
  });
  await receiver.start();
  let isBusy = true;
  const spin = (): void => {
    block(5);
    if (isBusy) setImmediate(spin);
  };
  spin();
  const events = Array.from({ length: 20 }, () => signalEvent());
  for (const event of events) expect((await receiver.handle(delivery(event))).status).toBe(200);
  await eventually("all to be handed off", () => handedOff.length === events.length);
  isBusy = false;
  expect(handedOff.toSorted()).toEqual(events.map(({ id }) => id).toSorted());
  await receiver.close();
});
