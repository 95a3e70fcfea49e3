import { deepStrictEqual, strictEqual } from "node:assert/strict";
import {
  accept,
  assertBetween,
  commit,
  ENDPOINT,
  newEvent,
  SECOND,
  storeCase,
  type StoreCase,
} from "./store-case.js";

const MINUTE_MS = 60_000;

/** G19: what is kept of alarms, and when the last event came. */
export const ALARM_CASES: readonly StoreCase[] = [
  storeCase(
    "G19",
    "of calls at the same time that begin with the same state of an alarm, one changes it",
    async ({ store, sibling }) => {
      const both = (before: string | null, round: number) =>
        Promise.all(
          [store, sibling, store, sibling].map((each, index) =>
            each.setAlarm(ENDPOINT, "dead", before, `{"n":${round},"by":${index}}`),
          ),
        );
      let before: string | null = null;
      for (let round = 0; round < 5; round++) {
        const changed: boolean[] = await both(before, round);
        const winner = changed.indexOf(true);
        strictEqual(changed.filter(Boolean).length, 1, `round ${round} was not changed by one`);
        before = `{"n":${round},"by":${winner}}`;
        deepStrictEqual(await sibling.alarms(ENDPOINT), [{ kind: "dead", state: before }]);
      }
    },
  ),
  storeCase(
    "G19",
    "what is kept of an alarm is changed only from what it was, by endpoint and kind",
    async ({ store }) => {
      strictEqual(await store.setAlarm(ENDPOINT, "dead", null, "a"), true, "nothing was kept");
      strictEqual(
        await store.setAlarm(ENDPOINT, "dead", null, "b"),
        false,
        "null replaced a state",
      );
      strictEqual(await store.setAlarm(ENDPOINT, "dead", "x", "b"), false, "x was not kept");
      strictEqual(await store.setAlarm(ENDPOINT, "quiet", null, "c"), true, "another kind");
      strictEqual(await store.setAlarm(SECOND, "dead", null, "d"), true, "another endpoint");
      strictEqual(await store.setAlarm(ENDPOINT, "dead", "a", "e"), true, "a was kept");
      const kept = await store.alarms(ENDPOINT);
      deepStrictEqual(
        kept.toSorted((a, b) => (a.kind < b.kind ? -1 : 1)),
        [
          { kind: "dead", state: "e" },
          { kind: "quiet", state: "c" },
        ],
      );
      deepStrictEqual(await store.alarms(SECOND), [{ kind: "dead", state: "d" }]);
    },
  ),
  storeCase(
    "G14",
    "stats tell the minute of the last accepted event, of its own endpoint",
    async ({ store, advance }) => {
      const last = async () => {
        await store.activity(ENDPOINT, { minutes: 1, spans: 1 });
        return (await store.stats(ENDPOINT)).lastAcceptedAt;
      };
      strictEqual(await last(), null, "an empty inbox has a last event");
      await accept(store, "evt_1");
      const first = (await last()) ?? NaN;
      await advance(5 * MINUTE_MS);
      await commit(store, { accepts: [newEvent("evt_1")] });
      await accept(store, "evt_2", {}, SECOND);
      strictEqual(await last(), first, "a duplicate, or another endpoint's event, counted");
      await accept(store, "evt_3");
      assertBetween(
        (await last()) ?? NaN,
        first + 5 * MINUTE_MS,
        first + 6 * MINUTE_MS,
        "the minute",
      );
    },
  ),
];
