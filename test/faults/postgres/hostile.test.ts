import { createHash } from "node:crypto";
import { once, type EventEmitter } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { Pool } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../../src/base/time/clock.js";
import type { NewEvent } from "../../../src/kit/inbox/batch.js";
import {
  postgresStore,
  type PgClient,
  type PgPool,
} from "../../../src/kit/stores/postgres/postgres-store.js";
import { withSchema } from "../../../src/kit/stores/postgres/schema.js";
import {
  accept,
  claim,
  claimRequest,
  commit,
  newEvent,
  RECEIVED_AT,
  settle,
} from "../../contract/cases/store-case.js";
import { POSTGRES_URL } from "../../contract/postgres-medium.js";
import { eventually } from "../eventually.js";
import {
  ENDPOINT,
  hold,
  newSchema,
  openStore,
  testOnPostgres,
  watchedPool,
} from "./open-stores.js";

testOnPostgres(
  "a row that PostgreSQL cannot store is refused as a row, and its batch is not stored",
  async () => {
    const { schema } = newSchema();
    const store = await openStore(schema);
    const longId = Array.from({ length: 3000 }, (_, index) =>
      String.fromCharCode(0x4e00 + ((index * 7919) % 20_000)),
    ).join("");
    for (const over of [
      { eventId: "nul\0" },
      { eventId: longId },
      { eventId: "half \ud800" },
      { type: "\0" },
    ]) {
      const accepts = [newEvent("evt_good"), { ...newEvent("evt_bad"), ...over }];
      await expect(commit(store, { accepts })).rejects.toMatchObject({ code: "store_row_refused" });
      expect(await store.list({})).toEqual([]);
    }
  },
);

testOnPostgres(
  "an id that PostgreSQL cannot store is not found, and the others of its batch are",
  async () => {
    const store = await openStore(newSchema().schema);
    await accept(store, "evt_1", { state: "done" });
    await accept(store, "half \ufffd", { state: "done" });
    const events = ["nul\0", "evt_1", "half \ud800"].map((eventId) => ({
      endpoint: ENDPOINT,
      eventId,
    }));
    expect(await store.discard(events)).toEqual(["not_found", "wrong_state", "not_found"]);
    expect(await store.replay(events, () => null)).toEqual(["not_found", "moved", "not_found"]);
    expect(await store.get(ENDPOINT, "nul\0")).toBe(undefined);
  },
);

testOnPostgres("headers that are no JSON any more stop no claim", async () => {
  const { schema, name, admin } = newSchema();
  const store = await openStore(schema);
  await accept(store, "evt_1");
  await admin.query(`UPDATE ${name}.inbox_body SET received = '{"at":'`);
  const { events } = await claim(store);
  expect(events).toMatchObject([{ eventId: "evt_1", received: { at: RECEIVED_AT, headers: {} } }]);
});

testOnPostgres("processes that accept the same ids in opposite orders never deadlock", async () => {
  const { schema } = newSchema();
  const codes: unknown[] = [];
  const stores = await Promise.all([0, 1, 2, 3].map(() => openStore(schema, watchedPool(codes))));
  // Of simultaneous migrations all but one fail.
  codes.length = 0;
  for (let round = 0; round < 30; round++) {
    const ids = Array.from({ length: 50 }, (_, index) => `evt_${round}_${index}`);
    const results = await Promise.all(
      stores.map((store, index) => {
        const accepts = (index % 2 === 0 ? ids : ids.toReversed()).map((id) => newEvent(id));
        return commit(store, { accepts });
      }),
    );
    const accepted = results.flatMap(({ accepts }) =>
      accepts.filter(({ status }) => status === "accepted"),
    );
    expect(accepted.length).toBe(ids.length);
  }
  expect(codes).toEqual([]);
});

const keyOf = (content: string): Buffer => createHash("sha256").update(content).digest();

/** As a sender would deliver it whose ids are not signed. */
function unsigned(eventId: string, content: string): NewEvent {
  return newEvent(eventId, { body: Buffer.from(content), contentKey: keyOf(content) });
}

testOnPostgres(
  "two processes that store the same contents in opposite orders do not deadlock",
  async () => {
    const { schema, name, admin } = newSchema();
    const codes: unknown[] = [];
    const stores = [
      await openStore(schema, watchedPool(codes)),
      await openStore(schema, watchedPool(codes)),
    ] as const;
    // Of simultaneous migrations all but one fail.
    codes.length = 0;
    // Both have begun before either goes on: a transaction holds the content in their middle.
    const held = await hold(
      `INSERT INTO ${name}.inbox (endpoint, event_id, type, state, due_at, received_at, token, owner, body_hash, content_key)
       VALUES ('default', 'evt_held', 't', 'done', 0, 0, 0, 0, '', '\\x${keyOf("held").toString("hex")}')`,
    );
    const commits = Promise.all([
      commit(stores[0], {
        accepts: [unsigned("a_1", "x"), unsigned("a_2", "held"), unsigned("a_3", "y")],
      }),
      commit(stores[1], {
        accepts: [unsigned("b_1", "y"), unsigned("b_2", "held"), unsigned("b_3", "x")],
      }),
    ]);
    // One of them waits for the other.
    const waiting = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND position($1 IN query) > 0`;
    await expect
      .poll(async () => (await admin.query(waiting, [`${name}.commit_batch`])).rows)
      .toEqual([{ n: 2 }]);
    await held.end();
    const accepts = (await commits).flatMap((result) => result.accepts);
    expect(accepts.filter(({ status }) => status === "accepted")).toHaveLength(3);
    expect(codes).toEqual([]);
  },
);

testOnPostgres("a transaction that PostgreSQL ended because of others is tried again", async () => {
  const { schema, name, admin } = newSchema();
  const codes: unknown[] = [];
  const store = await openStore(schema, watchedPool(codes));
  await admin.query(`CREATE SEQUENCE ${name}.failures`);
  await admin.query(`CREATE FUNCTION ${name}.fail() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN
    IF nextval('${name}.failures') < 3 THEN RAISE EXCEPTION 'once' USING ERRCODE = '40001'; END IF; RETURN NEW; END $f$`);
  await admin.query(
    `CREATE TRIGGER fail BEFORE INSERT ON ${name}.inbox_body FOR EACH ROW EXECUTE FUNCTION ${name}.fail()`,
  );
  await accept(store, "evt_1");
  expect(codes).toEqual(["40001", "40001"]);
});

testOnPostgres(
  "a warning of the server, as of a database that must be vacuumed soon, fails no commit",
  async () => {
    const { schema, name, admin } = newSchema();
    const store = await openStore(schema);
    await admin.query(`
    CREATE FUNCTION ${name}.warn() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE WARNING ''soon''; RETURN NULL; END';
    CREATE TRIGGER warn AFTER INSERT ON ${name}.inbox EXECUTE FUNCTION ${name}.warn()`);
    await expect(accept(store, "evt_1")).resolves.toMatchObject({ token: 0 });
  },
);

testOnPostgres("commits wait for the disk where the role has synchronous_commit off", async () => {
  const { schema, name, admin } = newSchema();
  const pool = new Pool({
    connectionString: POSTGRES_URL,
    max: 3,
    options: "-c synchronous_commit=off",
  });
  const store = postgresStore({ pool, schema });
  await store.open({ endpoint: ENDPOINT, clock: systemClock });
  await admin.query(`CREATE TABLE ${name}.seen (setting text)`);
  await admin.query(`CREATE FUNCTION ${name}.see() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN
    INSERT INTO ${name}.seen VALUES (current_setting('synchronous_commit')); RETURN NEW; END $f$`);
  await admin.query(
    `CREATE TRIGGER see AFTER INSERT OR UPDATE ON ${name}.inbox FOR EACH ROW EXECUTE FUNCTION ${name}.see()`,
  );
  const lease = await accept(store, "evt_1", { state: "leased" });
  await settle(store, lease);
  await store.replay([{ endpoint: ENDPOINT, eventId: "evt_1" }], () => null);
  const { rows } = await admin.query(`SELECT DISTINCT setting FROM ${name}.seen`);
  expect(rows).toEqual([{ setting: "on" }]);
  await store.close(ENDPOINT);
  await pool.end();
});

testOnPostgres(
  "when backends are ended during commits, nothing acknowledged is lost and nothing is accepted twice",
  async () => {
    const { schema, name, admin } = newSchema();
    const application = `signalbox ${schema}`.slice(0, 60);
    const pool = new Pool({
      connectionString: POSTGRES_URL,
      max: 4,
      application_name: application,
    });
    const store = postgresStore({ pool, schema });
    await store.open({ endpoint: ENDPOINT, clock: systemClock });
    const acknowledged = new Map<string, number>();
    let failures = 0;
    let ended = 0;
    const send = async (worker: number): Promise<void> => {
      for (let index = 0; index < 150; index++) {
        const eventId = `evt_${worker}_${index}`;
        for (;;) {
          try {
            const { accepts } = await commit(store, {
              accepts: [newEvent(eventId), newEvent(`${eventId}_b`)],
              claim: claimRequest(),
            });
            if (accepts[0]?.status === "accepted")
              acknowledged.set(eventId, (acknowledged.get(eventId) ?? 0) + 1);
            break;
          } catch (error) {
            expect(error).toMatchObject({ code: "store_failed" });
            failures += 1;
          }
        }
      }
    };
    const sending = Promise.all([0, 1, 2].map(send));
    const state = { isSending: true };
    void sending.finally(() => (state.isSending = false));
    while (state.isSending && ended < 15) {
      const { rows } = await admin.query<{ ended: boolean }>(
        `SELECT pg_terminate_backend(pid) AS ended FROM pg_stat_activity WHERE application_name = $1 AND state = 'active' LIMIT 1`,
        [application],
      );
      ended += rows.length;
    }
    await sending;
    expect(failures).toBeGreaterThan(0);
    expect([...acknowledged.values()].every((times) => times === 1)).toBe(true);
    const { rows } = await admin.query<{ n: string; bodies: string }>(
      `SELECT count(*) AS n, count(b.seq) AS bodies FROM ${name}.inbox LEFT JOIN ${name}.inbox_body b USING (seq)`,
    );
    expect(rows).toEqual([{ n: "900", bodies: "900" }]);
    // Leases that a lost commit took are not held by anyone: they are free after the recovery of
    // the batcher.
    await store.reclaim({ endpoint: ENDPOINT, held: [], crashed: false });
    expect((await store.stats(ENDPOINT)).leased).toBe(0);
    await store.close(ENDPOINT);
    await pool.end();
  },
);

test.each([
  ["that never answers fails after its deadline, and the pool closes it", false],
  ["that comes after its deadline is given back to the pool", true],
])("a connection %s", async (_how, isLate) => {
  const released: unknown[] = [];
  const client: PgClient = {
    query: () => new Promise(() => {}),
    release: (error) => void released.push(error),
    on: () => {},
    removeListener: () => {},
  };
  let come: (late: PgClient) => void = () => {};
  const connect = (): Promise<PgClient> =>
    isLate ? new Promise((resolve) => (come = resolve)) : Promise.resolve(client);
  const pool: PgPool = { connect, end: async () => {}, on: () => {}, removeListener: () => {} };
  const store = postgresStore({ pool });
  const timers = globalThis.setTimeout;
  // The deadline passes at once.
  globalThis.setTimeout = ((callback: () => void) => timers(callback, 0)) as typeof setTimeout;
  try {
    const opening = store.open({ endpoint: ENDPOINT, clock: systemClock });
    await expect(opening).rejects.toMatchObject({
      code: "store_failed",
      message: expect.stringContaining("ETIMEDOUT"),
    });
  } finally {
    globalThis.setTimeout = timers;
  }
  come(client);
  await Promise.resolve();
  expect(released).toEqual([isLate ? undefined : expect.any(Error)]);
});

testOnPostgres("the loss of idle connections is not noticed", async () => {
  const { schema, admin } = newSchema();
  const application = `idle ${schema}`.slice(0, 60);
  const pool = new Pool({ connectionString: POSTGRES_URL, max: 4, application_name: application });
  onTestFinished(() => pool.end());
  const store = await openStore(schema, pool);
  await Promise.all([0, 1, 2].map(() => store.list({})));
  let removed = 0;
  (pool as unknown as EventEmitter).on("remove", () => (removed += 1));
  const { rows } = await admin.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1",
    [application],
  );
  await eventually("the pool has lost them", () => removed >= rows.length);
  await accept(store, "evt_1");
});

testOnPostgres("a lease that no owner has is freed when a store opens", async () => {
  const { schema, name, admin } = newSchema();
  const first = await openStore(schema);
  await accept(first, "evt_1", { state: "leased" });
  await accept(first, "evt_2", { state: "leased" });
  await admin.query(`UPDATE ${name}.inbox SET owner = 99 WHERE event_id = 'evt_1'`);
  const second = await openStore(schema);
  await eventually(
    "the lease is freed",
    async () => (await second.get(ENDPOINT, "evt_1"))?.state === "ready",
  );
  expect(await second.get(ENDPOINT, "evt_1")).toMatchObject({ crashes: 1, possiblyRepeated: true });
  expect((await second.get(ENDPOINT, "evt_2"))?.state).toBe("leased");
});

test("a server that ends in the moment in which it lets a client in does not end the process", async () => {
  const message = (type: string, ...parts: string[]): Buffer => {
    const content = Buffer.from(parts.join(""), "latin1");
    const head = Buffer.alloc(5, type);
    head.writeInt32BE(content.length + 4, 1);
    return Buffer.concat([head, content]);
  };
  const answer = Buffer.concat([
    message("R", "\0\0\0\0"), // let in
    message("Z", "I"), // ready
    message("E", "SFATAL\0", "VFATAL\0", "C57P01\0", "Mthe server ends\0", "\0"),
  ]);
  const server = createServer((socket) => socket.once("data", () => socket.end(answer))).listen(
    0,
    "127.0.0.1",
  );
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const db = `postgres://nobody@127.0.0.1:${port}/none`;
  const opening = postgresStore({ connectionString: db }).open({
    endpoint: ENDPOINT,
    clock: systemClock,
  });
  await expect(opening).rejects.toMatchObject({ code: "store_failed" });
  const examining = withSchema(db, "signalbox", () => Promise.resolve());
  await expect(examining).rejects.toMatchObject({ code: "store_failed" });
});
