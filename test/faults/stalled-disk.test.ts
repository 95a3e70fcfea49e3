import { expect, test } from "vitest";
import { createReceiver, type InboxStore, type SignalEvent } from "../../src/index.js";
import { memoryStore } from "../../src/stores/memory.js";
import { createManualClock, signalEvent, type ManualClock } from "../../src/testing/index.js";
import { newEventAt } from "../unit/inbox/new-event.js";

const ENDPOINT = "default";

/** An event that was in hand at two crashes: it is handed off alone from now on. */
async function keepSuspect(store: InboxStore, event: SignalEvent, now: number): Promise<void> {
  const claim = { endpoint: ENDPOINT, now, leaseUntil: now, limit: 1 };
  const crash = { endpoint: ENDPOINT, now, held: new Set<number>(), crashed: true };
  await store.open({ endpoint: ENDPOINT });
  await store.commit({ settlements: [], accepts: [newEventAt(now, { signal: event, state: "leased" })], claim: null });
  await store.takeOver(crash);
  await store.commit({ settlements: [], accepts: [], claim });
  await store.takeOver(crash);
  await store.close(ENDPOINT);
}

/** The disk stalls once, in the first claim. */
function stallingOnce(store: InboxStore, clock: ManualClock, stallMs: number): InboxStore {
  let hasStalled = false;
  return {
    ...store,
    async commit(batch) {
      const result = await store.commit(batch);
      if (batch.claim !== null && !hasStalled) {
        hasStalled = true;
        await new Promise<void>((resume) => void clock.setTimeout(resume, stallMs));
      }
      return result;
    },
  };
}

test("a suspect whose lease is too old once it is claimed does not stop the hand-offs for good", async () => {
  const clock = createManualClock();
  const store = memoryStore();
  const suspect = signalEvent();
  await keepSuspect(store, suspect, clock.now());
  const handedOff: string[] = [];
  const receiver = createReceiver({
    secrets: "whsec_faults",
    // Past the 30 seconds by which a lease outlives its callback's time.
    store: stallingOnce(store, clock, 40_000),
    onSignal: ({ id }) => void handedOff.push(id),
    logger: false,
    clock,
  });
  await receiver.start();
  await clock.advance(120_000);
  expect(handedOff).toEqual([suspect.id]);
  await receiver.close();
});
