import { statSync } from "node:fs";
import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { EVENT_STATES } from "../../../../../src/kit/inbox/stored-events.js";
import type { EventState, SearchQuery } from "../../../../../src/kit/index.js";
import { createCommitter } from "../../../../../src/kit/stores/sqlite/commit.js";
import { openDatabase } from "../../../../../src/kit/stores/sqlite/open-database.js";
import { createQueries } from "../../../../../src/kit/stores/sqlite/queries.js";
import { prepareSearch } from "../../../../../src/kit/stores/sqlite/search.js";
import { rejectionOf } from "../../../signalbox-error-of.js";
import { newEvent } from "../../inbox/new-event.js";
import { accept, inboxPath, openStore, settleDone } from "./open-store.js";

/** How SQLite means to run every statement that is prepared. */
function plansOf(
  prepareAll: (db: Database.Database) => unknown,
): { sql: string; plan: string[] }[] {
  const { db, release } = openDatabase(inboxPath(), "owner");
  onTestFinished(() => release({ keepWal: false }));
  const statements: string[] = [];
  const recording = new Proxy(db, {
    get(target, property) {
      if (property === "prepare")
        return (sql: string) => (statements.push(sql), target.prepare(sql));
      const value: unknown = Reflect.get(target, property);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  prepareAll(recording);
  return statements.map((sql) => {
    const explain = db.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`);
    const names = [...sql.matchAll(/@(\w+)/g)].map(([, name]) => [name, null]);
    const unnamed = [...sql.matchAll(/\?/g)].map(() => null);
    const rows =
      names.length > 0 ? explain.all(Object.fromEntries(names)) : explain.all(...unnamed);
    return { sql: sql.replaceAll(/\s+/g, " ").trim(), plan: rows.map(({ detail }) => detail) };
  });
}

const isSlow = (step: string): boolean => /^SCAN inbox(?!_report)|TEMP B-TREE/.test(step);
// `inbox_minute` has few rows.
const slowOnes = (plans: ReturnType<typeof plansOf>) =>
  plans.filter(({ sql, plan }) => plan.some(isSlow) && !sql.includes("FROM inbox_minute"));

test("no statement on the path of a delivery scans or sorts, and each state has its index", () => {
  const plans = plansOf((db) => createCommitter(db, true));
  expect(plans.length).toBeGreaterThan(10);
  expect(slowOnes(plans)).toEqual([]);
  const steps = plans.flatMap(({ plan }) => plan).join("\n");
  for (const index of ["inbox_key", "inbox_ready", "inbox_leased"]) expect(steps).toContain(index);
});

test("pruning, which runs every minute beside the deliveries, looks at old events alone", () => {
  const prunes = plansOf(createQueries).filter(({ sql }) => sql.includes("has_payload ="));
  const steps = prunes.filter(({ sql }) => sql.startsWith("SELECT seq")).map(({ plan }) => plan[0]);
  expect(steps.length).toBeGreaterThan(1);
  for (const step of steps)
    expect(step).toMatch(/^SEARCH inbox USING COVERING INDEX inbox_done_\w+ \(.*due_at<\?\)/);
});

test("the age of what waits is found without a look at every event", () => {
  const oldest = plansOf(createQueries).find(({ sql }) => sql.includes("min(due_at)"));
  expect(oldest?.plan.join("\n")).toMatch(/inbox_ready/);
  expect(oldest?.plan.join("\n")).not.toMatch(/inbox_key/);
});

test.each<[EventState, RegExp]>([
  ["ready", /^SEARCH inbox USING INDEX inbox_ready /],
  ["leased", /^SEARCH inbox USING INDEX inbox_leased /],
  ["dead", /^SEARCH inbox USING INDEX inbox_dead \(endpoint=\? AND rowid>\?\)$/],
  ["quarantined", /^SEARCH inbox USING INDEX inbox_quarantined \(endpoint=\? AND rowid>\?\)$/],
  ["done", /^SEARCH inbox USING INTEGER PRIMARY KEY \(rowid>\?\)$/],
])("a page of %s events is found by their index, also with a type", (state, search) => {
  for (const type of [{}, { type: "signal.published" }]) {
    const listings = plansOf((db) =>
      createQueries(db).list({ endpoint: "default", state, ...type }),
    ).filter(({ sql }) => sql.includes("afterSeq"));
    expect(listings).toEqual([
      { sql: expect.any(String) as string, plan: expect.any(Array) as string[] },
    ]);
    expect(listings[0]?.plan[0]).toMatch(search);
  }
});

test("a search reads the table or an index in its order, and an index by the beginning of an id", () => {
  const plansFor = (query: SearchQuery) =>
    plansOf((db) => {
      const steps = prepareSearch(db);
      steps.findFew("default", query);
      steps.lookBack("default", query, 1000, 100, 50);
      steps.lookAtFew([1], "default", query, 50);
    });
  for (const state of EVENT_STATES) {
    const plans = plansFor({ state, subject: "a", eventId: "evt", receivedBefore: 1 });
    expect(
      plans.filter(({ plan }) =>
        plan.some((step) => /^SCAN inbox (?!USING)|^SCAN inbox$|TEMP/.test(step)),
      ),
    ).toEqual([]);
    expect(plans[0]?.plan).toEqual([
      "SEARCH inbox USING COVERING INDEX inbox_key (endpoint=? AND event_id>? AND event_id<?)",
    ]);
  }
  const dead = plansFor({ state: "dead", subject: "a" });
  expect(dead[0]?.plan).toEqual([
    "SEARCH inbox USING COVERING INDEX inbox_dead (endpoint=? AND rowid<?)",
  ]);
  expect(dead[1]?.plan).toEqual([
    expect.stringMatching(/^SEARCH inbox USING INDEX inbox_dead \(endpoint=\? AND rowid>\? AND/),
  ]);
});

test("no other query scans or sorts the whole inbox", () => {
  const listAll = (db: Database.Database): unknown => {
    const { list } = createQueries(db);
    return [list({}), list({ endpoint: "default" }), list({ type: "signal.published" })];
  };
  expect(slowOnes(plansOf(listAll))).toEqual([]);
});

test("a body lives in its own table, and a change of state does not write it again", async () => {
  const path = inboxPath();
  const store = await openStore(path);
  const { accepts } = await accept(
    store,
    newEvent({ state: "leased", body: Buffer.alloc(256 * 1024, 1) }),
  );
  const sizeBefore = statSync(`${path}-wal`).size;
  expect(sizeBefore).toBeGreaterThan(256 * 1024);
  await settleDone(store, accepts[0]!.seq);
  // A handful of pages of 4 KB, for the row and the indexes of its states.
  expect(statSync(`${path}-wal`).size - sizeBefore).toBeLessThan(10 * 4200);
  const reader = new Database(path, { readonly: true });
  onTestFinished(() => void reader.close());
  expect(reader.prepare("SELECT length(body) FROM inbox_body").pluck().all()).toEqual([256 * 1024]);
  expect(
    reader
      .prepare("SELECT * FROM inbox")
      .columns()
      .map(({ name }) => name),
  ).not.toContain("body");
});

test("typed columns refuse what does not belong in them, as a row error, and nothing of the batch stays", async () => {
  const store = await openStore(inboxPath());
  for (const bad of [{ leaseMs: 1.5 }, { state: "nonsense" as never }, { leaseMs: Number.NaN }]) {
    const error = await rejectionOf(accept(store, newEvent(), newEvent(bad)));
    expect(error.code).toBe("store_row_refused");
  }
  expect(await store.list({})).toEqual([]);
});
