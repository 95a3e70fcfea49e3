import { expect, test } from "vitest";
import { createInbox } from "../../../src/inbox/inbox.js";
import { createManualClock } from "../../../src/testing/index.js";
import { turns, until } from "../until.js";
import { faultyStore, mediumError } from "./faulty-store.js";
import { T0 } from "./new-event.js";

test("whatever a logger or a listener throws, each hand-off is settled and its slot is free again", async () => {
  const store = faultyStore();
  store.prune = () => Promise.reject(mediumError());
  const clock = createManualClock(T0);
  const throwing = () => {
    throw new Error("a logger that throws");
  };
  const called: string[] = [];
  let fails = true;
  const inbox = createInbox({
    store,
    endpoint: "default",
    clock,
    maxQueued: { events: 100, bytes: 1_000_000 },
    retention: { keyDays: 30, payloadDays: 7 },
    concurrency: 1,
    timeoutMs: 1000,
    maxAttempts: 1,
    backoff: () => 0,
    handOff({ event }) {
      called.push(event.eventId);
      if (fails) throw new Error("the queue is down");
    },
    observe: { handedOff: throwing, handoffFailed: throwing, dead: throwing, leaseLost: throwing, breaker: throwing },
    onHealth: throwing,
    onRetentionError: throwing,
  });
  await inbox.open();
  const accept = (eventId: string) =>
    inbox.accept({
      eventId,
      type: "signal.published",
      fate: { kind: "handOff", parsed: {} },
      received: { at: T0, headers: {} },
      body: Buffer.from("{}"),
    });
  // As many as open the breaker.
  const failing = Array.from({ length: 10 }, (_, index) => `fails_${index}`);
  for (const id of failing) await accept(id);
  await until(() => called.length === 10);
  fails = false;
  await clock.advance(1000);
  await accept("works");
  store.fail(mediumError());
  await expect(accept("refused")).rejects.toThrow("disk is full");
  store.fail(null);
  await clock.advance(60_000);
  await accept("works_again");
  await until(() => called.includes("works_again"));
  await turns();
  expect(await inbox.stats()).toMatchObject({ dead: 10, done: 2, leased: 0, ready: 0, running: 0 });
  await inbox.close(0);
});
