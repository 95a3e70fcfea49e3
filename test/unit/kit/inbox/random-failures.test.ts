import { expect, test } from "vitest";
import { createInbox } from "../../../../src/kit/inbox/inbox.js";
import { memoryStore } from "../../../../src/kit/stores/memory.js";
import { createManualClock } from "../../../../src/kit/testing/index.js";
import { seededRandom } from "../../../faults/seeded-random.js";
import { turns } from "../../until.js";
import { mediumError, rowError } from "./faulty-store.js";
import { T0 } from "./new-event.js";

const EVENTS = 200;

/**
 * A store with two commits in flight, of which many fail: before or after they were applied, or for
 * one of their rows.
 */
function failingStore(random: () => number, isFailing: () => boolean) {
  const inner = memoryStore();
  const wait = (most: number): Promise<void> => turns(Math.floor(random() * most));
  const commit: typeof inner.commit = async (batch) => {
    const isEarly = random() < 0.6;
    if (
      isFailing() &&
      batch.accepts.some(({ eventId }) => /[37]$/.test(eventId)) &&
      random() < 0.7
    ) {
      await wait(12);
      throw rowError();
    }
    const early = isEarly ? await inner.commit(batch) : null;
    await wait(8);
    if (isFailing() && random() < 0.15) throw mediumError();
    return early ?? inner.commit(batch);
  };
  const reclaim: typeof inner.reclaim = async (request) => {
    const result = await inner.reclaim(request);
    await wait(4);
    if (isFailing() && random() < 0.1) throw mediumError();
    return result;
  };
  return { ...inner, commitsInFlight: () => 2, commit, reclaim };
}

test.each([1, 2, 3])(
  "while commits fail at random, an acknowledged event is handed off, and no repeat is unflagged (seed %i)",
  async (seed) => {
    const random = seededRandom(seed);
    const clock = createManualClock(T0);
    let isFailing = false;
    const flags = new Map<string, boolean[]>();
    const inbox = createInbox({
      store: failingStore(random, () => isFailing),
      endpoint: "default",
      hasTenants: false,
      sender: null,
      unsignedId: false,
      unsignedFacts: [],
      repeatedBody: "keep",
      readAgain: () => null,
      clock,
      maxQueued: { events: 4096, bytes: 1e9 },
      retention: { keyDays: 30, payloadDays: 7 },
      ordered: false,
      onHealth: () => {},
      onCommit: undefined,
      onRetentionError: () => {},
      concurrency: 8,
      timeoutMs: 30_000,
      maxAttempts: 20,
      backoff: () => 1,
      observe: new Proxy({}, { get: () => () => {} }) as Parameters<
        typeof createInbox
      >[0]["observe"],
      async handOff({ event }) {
        flags.set(event.eventId, [...(flags.get(event.eventId) ?? []), event.possiblyRepeated]);
        await turns(Math.floor(random() * 10));
      },
    });
    await inbox.open();
    isFailing = true;
    const acknowledged: string[] = [];
    const accepts: Promise<unknown>[] = [];
    for (let at = 0; at < EVENTS; at += 1) {
      const eventId = `evt_${at}`;
      const accepted = inbox.accept({
        eventId,
        type: "signal.published",
        disposition: { kind: "handOff", parsed: {} },
        subtype: null,
        subject: null,
        lane: null,
        received: { at: T0, headers: {} },
        body: Buffer.from(eventId),
      });
      accepts.push(accepted.then(() => acknowledged.push(eventId)).catch(() => undefined));
      if (random() < 0.3) await turns(Math.floor(random() * 6));
    }
    await Promise.all(accepts);
    isFailing = false;
    for (let second = 0; second < 10; second += 1) await clock.advance(1000);
    expect(acknowledged.length).toBeGreaterThan(0);
    expect(acknowledged.filter((eventId) => !flags.has(eventId))).toEqual([]);
    expect([...flags].filter(([, each]) => each.slice(1).includes(false))).toEqual([]);
    expect(await inbox.reader.stats()).toMatchObject({ ready: 0, leased: 0 });
    expect(await inbox.close(0)).toBe(true);
  },
);
