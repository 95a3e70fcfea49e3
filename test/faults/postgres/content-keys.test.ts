import { createHash } from "node:crypto";
import type { Pool } from "pg";
import { expect } from "vitest";
import type { NewEvent } from "../../../src/kit/inbox/batch.js";
import { commit, newEvent } from "../../contract/cases/store-case.js";
import { newSchema, openStore, poolOfTest, testOnPostgres } from "./open-stores.js";

const keyOf = (content: string): Buffer => createHash("sha256").update(content).digest();

/** As a sender would deliver it whose ids are not signed. */
function unsigned(eventId: string, content: string): NewEvent {
  return newEvent(eventId, { body: Buffer.from(content), contentKey: keyOf(content) });
}

/**
 * A pool that notes the errors of its statements. The store runs a statement again that a deadlock
 * ended.
 */
function recording(failures: unknown[]): Pool {
  const pool = poolOfTest();
  pool.on("connect", (client) => {
    const query = client.query.bind(client) as (...args: unknown[]) => Promise<unknown>;
    const recorded = (...args: unknown[]) =>
      query(...args).catch((error: unknown) => {
        failures.push(error);
        throw error;
      });
    Object.assign(client, { query: recorded });
  });
  return pool;
}

testOnPostgres(
  "two processes that store the same contents in opposite orders do not deadlock",
  async () => {
    const { schema, name, admin } = newSchema();
    const failures: unknown[] = [];
    const stores = [
      await openStore(schema, recording(failures)),
      await openStore(schema, recording(failures)),
    ] as const;
    // Both have begun before either goes on: a transaction holds the content in their middle.
    const held = await admin.connect();
    await held.query("BEGIN");
    await held.query(
      `INSERT INTO ${name}.inbox (endpoint, event_id, type, state, due_at, received_at, token, owner, body_hash, content_key)
     VALUES ('default', 'evt_held', 't', 'done', 0, 0, 0, 0, '', $1)`,
      [keyOf("held")],
    );
    const commits = Promise.all([
      commit(stores[0], {
        accepts: [unsigned("a_1", "x"), unsigned("a_2", "held"), unsigned("a_3", "y")],
      }),
      commit(stores[1], {
        accepts: [unsigned("b_1", "y"), unsigned("b_2", "held"), unsigned("b_3", "x")],
      }),
    ]);
    const waiting = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND position($1 IN query) > 0`;
    await expect
      .poll(async () => (await admin.query(waiting, [`${name}.commit_batch`])).rows)
      .toEqual([{ n: 2 }]);
    await held.query("ROLLBACK");
    held.release();
    const accepts = (await commits).flatMap((result) => result.accepts);
    expect(accepts.filter(({ status }) => status === "accepted")).toHaveLength(3);
    expect(failures).toEqual([]);
  },
);
