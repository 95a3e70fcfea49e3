import { expect, onTestFinished, test, vi } from "vitest";
import type { EventState, SearchQuery, StoredEvent } from "../../../../../src/kit/index.js";
import { search, type SearchSteps } from "../../../../../src/kit/stores/sqlite/search.js";
import type { SqliteStore } from "../../../../../src/kit/stores/sqlite/sqlite-store.js";
import { rejectionOf } from "../../../signalbox-error-of.js";
import { newEvent, T0 } from "../../inbox/new-event.js";
import { inboxPath, openStore } from "./open-store.js";

/** More than are sorted, or looked at in one slice. */
const EVENTS = 9000;

const stateOf = (n: number): EventState => (n % 2 === 0 ? "ready" : n % 5 === 0 ? "dead" : "done");
const subjectOf = (n: number): string => (n % 2500 === 1 ? "rare" : `product-${n % 7}`);

async function filled(): Promise<SqliteStore> {
  const store = await openStore(inboxPath());
  const events = Array.from({ length: EVENTS }, (_, n): StoredEvent => {
    const { body, ...event } = newEvent({ eventId: `evt_${n}`, subject: subjectOf(n) });
    const counts = { seq: n, attempts: 0, crashes: 0, dueAt: T0, receivedAt: T0 + n };
    const flags = { replayed: false, lastError: null, sender: "signals", rawBody: body };
    const rest = {
      endpoint: "default",
      state: stateOf(n),
      history: [],
      waitsBehind: null,
      lane: null,
      heldCount: 0,
      earlierCount: 0,
    };
    return { ...event, ...counts, ...flags, ...rest };
  });
  await store.restore?.("default", events);
  return store;
}

const wantedBy = ({
  state,
  subject,
  eventId = "",
  receivedBefore = Infinity,
}: SearchQuery): string[] =>
  Array.from({ length: EVENTS }, (_, n) => n)
    .filter((n) => state === undefined || stateOf(n) === state)
    .filter((n) => subject === undefined || subjectOf(n) === subject)
    .filter((n) => `evt_${n}`.startsWith(eventId) && T0 + n < receivedBefore)
    .map((n) => `evt_${n}`)
    .toReversed();

test("a search over many slices finds each event once, however many an index has", async () => {
  const store = await filled();
  const queries: SearchQuery[] = [
    {},
    { subject: "rare" },
    { subject: "none" },
    { state: "ready" },
    { state: "ready", subject: "product-3" },
    { state: "dead", subject: "product-2" },
    { state: "done", subject: "rare" },
    { eventId: "evt_" },
    { eventId: "evt_1" },
    { eventId: "evt_1", subject: "product-3", state: "ready" },
    { receivedBefore: T0 + 700, subject: "product-1" },
  ];
  for (const query of queries) {
    const found: string[] = [];
    for (let beforeSeq: number | null | undefined; beforeSeq !== null;) {
      const page = await store.search("default", { ...query, beforeSeq, limit: 1000 });
      found.push(...page.entries.map(({ eventId }) => eventId));
      beforeSeq = page.nextBeforeSeq;
    }
    expect(found, JSON.stringify(query)).toEqual(wantedBy(query));
  }
});

test("a store that is closed during a search rejects it, as a closed store", async () => {
  const store = await filled();
  const error = rejectionOf(store.search("default", { subject: "none" }));
  await store.close("default");
  expect((await error).message).toMatch(/^The store is not open/);
});

/**
 * An inbox without end in which each event takes a hundredth of a millisecond, and none matches.
 */
function endless(): { looks: number[]; turns: () => number; steps: SearchSteps } {
  const looks: number[] = [];
  let turns = 0;
  let now = 0;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => now);
  onTestFinished(() => clock.mockRestore());
  const turn = (): void => {
    turns += 1;
    immediate = setImmediate(turn);
  };
  let immediate = setImmediate(turn);
  onTestFinished(() => clearImmediate(immediate));
  return {
    looks,
    turns: () => turns,
    steps: {
      findFew: () => null,
      lookAtFew: () => [],
      lookBack(_endpoint, _query, beforeSeq, rows) {
        looks.push(rows);
        now += rows / 100;
        return { entries: [], nextBeforeSeq: beforeSeq - rows };
      },
    },
  };
}

test("a search ends after a while and says where it stopped, and the event loop turns between its slices", async () => {
  const { looks, turns, steps } = endless();
  const { entries, nextBeforeSeq } = await search((step) => step(steps), "default", {
    subject: "none",
  });
  expect(entries).toEqual([]);
  expect(nextBeforeSeq).toBe(Number.MAX_SAFE_INTEGER - looks.reduce((sum, rows) => sum + rows));
  expect(looks.length).toBeGreaterThan(1);
  expect(turns()).toBeGreaterThanOrEqual(looks.length - 1);
  // The first slice takes too long, so the others are shorter.
  expect(Math.max(...looks.slice(1))).toBeLessThanOrEqual(300);
});
