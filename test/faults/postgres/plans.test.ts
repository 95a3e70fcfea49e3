import { expect } from "vitest";
import { systemClock } from "../../../src/base/time/clock.js";
import { postgresStore } from "../../../src/kit/stores/postgres/postgres-store.js";
import { commit, newEvent, settlement } from "../../contract/cases/store-case.js";
import { POSTGRES_URL } from "../../contract/postgres-medium.js";
import { eventually } from "../eventually.js";
import { ENDPOINT, newSchema, testOnPostgres } from "./open-stores.js";

testOnPostgres(
  "a commit reads as many rows as it has events, also while PostgreSQL knows nothing of the table",
  async () => {
    const { schema, name, admin } = newSchema();
    const store = postgresStore({ connectionString: POSTGRES_URL, schema });
    await store.open({ endpoint: ENDPOINT, clock: systemClock });
    await admin.query(`ALTER TABLE ${name}.inbox SET (autovacuum_enabled = off)`);
    const events = 2000;
    let settlements: ReturnType<typeof settlement>[] = [];
    for (let first = 0; first < events; first += 50) {
      const accepts = Array.from({ length: 50 }, (_, index) =>
        newEvent(`evt_${first + index}`, { state: "leased" }),
      );
      const result = await commit(store, { settlements, accepts });
      settlements = result.accepts.map((lease) => settlement(lease as never));
    }
    // The end of its connections passes on what they counted.
    await store.close(ENDPOINT);
    let read = 0;
    await eventually("the counts", async () => {
      const { rows } = await admin.query<{ read: string; inserted: string }>(
        `SELECT n_tup_ins AS inserted, idx_tup_fetch + seq_tup_read AS read FROM pg_stat_user_tables
       WHERE schemaname = $1 AND relname = 'inbox'`,
        [schema],
      );
      read = Number(rows[0]?.read);
      return Number(rows[0]?.inserted) === events;
    });
    // Twice: for the settlement of each, and at the close. As a whole the table would be read 40
    // times.
    expect(read).toBeLessThan(3 * events);
  },
);
