import { loadDriver } from "../../base/sqlite/sqlite-driver.js";
import type { Clock } from "../../base/time/clock.js";
import { clockOf, closedStoreError, endpointInUseError, type InboxStore } from "../inbox/store.js";
import {
  createOperations,
  prepareInbox,
  type PreparedInbox,
  type Use,
} from "./sqlite/operations.js";
import { migrate } from "./sqlite/schema.js";
import { storeError } from "./sqlite/store-error.js";

/**
 * An inbox in memory, for tests and trials: SQLite without a file, so that tests run the statements
 * of `sqliteStore`. Its events are lost when the process ends, but not at `close`: a receiver that
 * is started again with the same store object finds them.
 */
export function memoryStore(): InboxStore {
  /** The clocks of the open endpoints. */
  const clocks = new Map<string, Clock>();
  let inbox: PreparedInbox | null = null;

  function run<Result>(use: Use<Result>): Result {
    if (inbox === null || clocks.size === 0) throw closedStoreError();
    try {
      return use(inbox, (endpoint) => clockOf(clocks, endpoint).now());
    } catch (error) {
      throw storeError(error, "in memory");
    }
  }

  return {
    name: "memory",
    durable: false,
    shared: false,
    async open({ endpoint, clock }) {
      if (clocks.has(endpoint)) throw endpointInUseError(endpoint, "this memory store");
      try {
        inbox ??= open();
      } catch (error) {
        throw storeError(error, "in memory");
      }
      clocks.set(endpoint, clock);
    },
    async close(endpoint) {
      clocks.delete(endpoint);
    },
    ...createOperations(run, async (transaction) => run(transaction)),
    wipe: async () => null,
    hasReceiver: async (endpoint) => clocks.has(endpoint),
    stats: async (endpoint) => run(({ queries }, nowAt) => queries.stats(endpoint, nowAt)),
  };
}

/** The statements that make the tables of this version: with them, all migrations run only once. */
let tables: string | undefined;

function open(): PreparedInbox {
  const db = loadDriver().open(":memory:");
  if (tables === undefined) migrate(db, true);
  else db.exec(tables);
  tables ??= db
    .prepare("SELECT group_concat(sql, ';') FROM sqlite_schema WHERE sql IS NOT NULL")
    .pluck()
    .get() as string;
  return prepareInbox(db, false);
}
