import { expect } from "vitest";
import { openInbox } from "../../../src/kit/inbox/open-inbox.js";
import {
  accept,
  commit,
  ENDPOINT,
  newEvent,
  settle,
  stateOf,
} from "../../contract/cases/store-case.js";
import { eventually } from "../eventually.js";
import { testOnDatabase } from "./open-stores.js";

const ANN = "ann-private-7f3a";

testOnDatabase(
  "no table has what was erased, and after VACUUM FULL no page of one",
  async ({ sql, open, name }) => {
    const store = await open();
    const tables = (
      await sql<{ name: string }>(
        "SELECT relname AS name FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind = 'r'",
        [name],
      )
    ).map((row) => row.name);
    const found = async () => {
      const counts = await Promise.all(
        tables.map((table) =>
          sql<{
            n: number;
          }>(`SELECT count(*)::int AS n FROM ${table} t WHERE t::text LIKE '%${ANN}%'
            OR t::text LIKE '%' || encode('${ANN}', 'hex') || '%'`),
        ),
      );
      return tables.filter((_table, index) => (counts[index]?.[0]?.n ?? 0) > 0);
    };
    // The bytes of the files, which the server reads for a superuser.
    const filesWithIt = async () => {
      await sql("CHECKPOINT");
      const files = await Promise.all(
        tables.map((table) =>
          sql<{ n: number }>(
            `SELECT position('${ANN}'::bytea IN pg_read_binary_file(pg_relation_filepath($1::regclass)))::int AS n`,
            [table],
          ),
        ),
      );
      return tables.filter((_table, index) => (files[index]?.[0]?.n ?? 0) > 0);
    };
    for (let index = 0; index < 50; index += 1) {
      const event = {
        subject: ANN,
        body: Buffer.from(`${ANN} ${index}`),
        state: "leased" as const,
      };
      const lease = await accept(store, `evt_${index}`, event);
      await settle(store, lease, {
        state: index % 2 ? "dead" : "ready",
        lastError: `Error: ${ANN}`,
      });
    }
    await accept(store, "evt_other");
    expect((await found()).toSorted()).toEqual(["inbox", "inbox_body", "inbox_history"]);
    expect((await filesWithIt()).toSorted()).toEqual(["inbox", "inbox_body", "inbox_history"]);
    const inbox = openInbox(store, ENDPOINT, () => () => null);
    expect(await inbox.erase({ subject: ANN })).toMatchObject({
      erased: 50,
      files: "not yet",
      why: expect.stringMatching(/VACUUM FULL.*backups/) as string,
    });
    expect(await found()).toEqual([]);
    // It keeps what a transaction that is older than the erasure could still see: of another test.
    await eventually("files without it", async () => {
      for (const table of tables) await sql(`VACUUM FULL ${table}`);
      return (await filesWithIt()).length === 0;
    });
    expect(await stateOf(store, "evt_other")).toBe("ready");
    const again = await commit(store, { accepts: [newEvent("evt_1")] });
    expect(again.accepts[0]?.status).toBe("duplicate");
  },
);

testOnDatabase(
  "an event that a transaction of its callback holds is erased when that ends",
  async ({ open, hold }) => {
    const store = await open();
    const { seq, token } = await accept(store, "evt_1", { state: "leased", subject: ANN });
    const callback = await hold(store.completeSql!({ seq, token }));
    const inbox = openInbox(store, ENDPOINT, () => () => null);
    const keys = [{ endpoint: ENDPOINT, eventId: "evt_1" }];
    expect(await store.erase(keys, ANN)).toEqual(["wrong_state"]);
    const erasing = inbox.erase({ subject: ANN });
    await callback.end("COMMIT");
    expect((await erasing).erased).toBe(1);
    expect(await store.get(ENDPOINT, "evt_1")).toMatchObject({ state: "done", subject: null });
  },
);
