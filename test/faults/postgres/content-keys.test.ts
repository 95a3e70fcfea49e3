import { createHash } from "node:crypto";
import { expect } from "vitest";
import type { NewEvent } from "../../../src/inbox/batch.js";
import { commit, newEvent } from "../../contract/cases/store-case.js";
import { newSchema, openStore, testOnPostgres } from "./open-stores.js";

const keyOf = (content: string): Buffer => createHash("sha256").update(content).digest();

/** As a sender would deliver it whose ids are not signed. */
function unsigned(eventId: string, content: string): NewEvent {
  return newEvent(eventId, { body: Buffer.from(content), contentKey: keyOf(content) });
}

testOnPostgres("two processes that store the same contents in opposite orders do not deadlock", async () => {
  const { schema, name, admin } = newSchema();
  const stores = [await openStore(schema), await openStore(schema)] as const;
  // Both have begun before either goes on: a transaction holds the content in their middle.
  const held = await admin.connect();
  await held.query("BEGIN");
  await held.query(
    `INSERT INTO ${name}.inbox (endpoint, event_id, type, state, due_at, received_at, token, owner, body_hash, content_key)
     VALUES ('default', 'evt_held', 't', 'done', 0, 0, 0, 0, '', $1)`,
    [keyOf("held")],
  );
  const commits = Promise.allSettled([
    commit(stores[0], { accepts: [unsigned("a_1", "x"), unsigned("a_2", "held"), unsigned("a_3", "y")] }),
    commit(stores[1], { accepts: [unsigned("b_1", "y"), unsigned("b_2", "held"), unsigned("b_3", "x")] }),
  ]);
  const waiting = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND position($1 IN query) > 0`;
  await expect.poll(async () => (await admin.query(waiting, [`${name}.commit_batch`])).rows).toEqual([{ n: 2 }]);
  await held.query("ROLLBACK");
  held.release();
  const results = await commits;
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled"]);
  const accepts = results.flatMap((result) => (result.status === "fulfilled" ? result.value.accepts : []));
  expect(accepts.filter(({ status }) => status === "accepted")).toHaveLength(3);
});
