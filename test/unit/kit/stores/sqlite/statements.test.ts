import { statSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import type { Database } from "../../../../../src/base/sqlite/database.js";
import { EVENT_STATES } from "../../../../../src/kit/inbox/stored-events.js";
import { createCommitter } from "../../../../../src/kit/stores/sqlite/commit.js";
import { openDatabase } from "../../../../../src/kit/stores/sqlite/open-database.js";
import { createQueries } from "../../../../../src/kit/stores/sqlite/queries.js";
import { prepareSearch } from "../../../../../src/kit/stores/sqlite/search.js";
import { prepareTrouble } from "../../../../../src/kit/stores/sqlite/trouble.js";
import { newEvent } from "../../inbox/new-event.js";
import { accept, inboxPath, openStore, settleDone } from "./open-store.js";

/** How SQLite means to run every statement that is prepared, each once. */
function plansOf(prepareAll: (db: Database) => unknown): Map<string, string[]> {
  const { db, release } = openDatabase(inboxPath(), "owner");
  onTestFinished(() => release({ keepWal: false }));
  const statements = new Set<string>();
  const recording = new Proxy(db, {
    get(target, property) {
      if (property === "prepare")
        return (sql: string) => (statements.add(sql), target.prepare(sql));
      const value: unknown = Reflect.get(target, property);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  prepareAll(recording);
  return new Map(
    Array.from(statements, (sql) => {
      const explain = db.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`);
      const names = [...sql.matchAll(/@(\w+)/g)].map(([, name]) => [name, null]);
      const unnamed = [...sql.matchAll(/\?/g)].map(() => null);
      const rows =
        names.length > 0 ? explain.all(Object.fromEntries(names)) : explain.all(...unnamed);
      return [sql.replaceAll(/\s+/g, " ").trim(), rows.map(({ detail }) => detail)];
    }),
  );
}

/**
 * Whether it takes longer the more events there are. `inbox_minute` and `inbox_report` have few
 * rows, and few events are ready or leased at a time.
 */
const isSlow = (steps: readonly string[]): boolean =>
  steps.some((step) => /^SCAN inbox(?!_report|_minute)/.test(step)) ||
  (steps.includes("USE TEMP B-TREE FOR ORDER BY") &&
    !/inbox_(ready|leased|report)/.test(steps[0] ?? ""));

test("no statement scans or sorts the inbox: each reads by an index, or in the order of the table", async () => {
  const plans = plansOf((db) => {
    createCommitter(db, true);
    prepareTrouble(db);
    const { list } = createQueries(db);
    const { findFew, lookBack, lookAtFew } = prepareSearch(db);
    list({});
    list({ type: "signal.published" });
    for (const state of [undefined, ...EVENT_STATES]) {
      list({ endpoint: "default", state });
      list({ endpoint: "default", state, type: "signal.published" });
      for (const query of [{ state }, { state, subject: "a", eventId: "evt", receivedBefore: 1 }]) {
        findFew("default", query);
        lookBack("default", query, 1000, 100, 50);
        lookAtFew([1], "default", query, 50);
      }
    }
  });
  expect([...plans].filter(([, steps]) => isSlow(steps))).toEqual([]);
  const text = Array.from(plans, ([sql, steps]) => `${[sql, ...steps].join("\n    ")}\n`).join("");
  // What each state, the beginning of an id and the age of what waits are found by.
  await expect(text).toMatchFileSnapshot("statements.txt");
});

test("a change of state does not write the body again", async () => {
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
});
