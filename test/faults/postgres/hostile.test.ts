import { createHash } from "node:crypto";
import { once, type EventEmitter } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
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
  commit,
  newEvent,
  RECEIVED_AT,
  settle,
} from "../../contract/cases/store-case.js";
import { eventually } from "../eventually.js";
import {
  CONTEXT,
  ENDPOINT,
  poolOfTest,
  testOnDatabase,
  watchedPool,
  type Database,
} from "./open-stores.js";

testOnDatabase(
  "a row that PostgreSQL cannot store is refused as a row, and its batch is not stored",
  async ({ open }) => {
    const store = await open();
    const longId = Array.from({ length: 3000 }, (_, index) =>
      String.fromCharCode(0x4e00 + ((index * 7919) % 20_000)),
    ).join("");
    for (const eventId of ["nul\0", longId, "half \ud800"]) {
      const accepts = [newEvent("evt_good"), newEvent(eventId)];
      await expect(commit(store, { accepts })).rejects.toMatchObject({ code: "store_row_refused" });
      expect(await store.list({})).toEqual([]);
    }
  },
);

testOnDatabase(
  "an id that PostgreSQL cannot store is not found, and the others of its batch are",
  async ({ open }) => {
    const store = await open();
    await accept(store, "evt_1", { state: "done" });
    await accept(store, "half \ufffd", { state: "done" });
    const ids = ["nul\0", "evt_1", "half \ud800"];
    const events = ids.map((eventId) => ({ endpoint: ENDPOINT, eventId }));
    expect(await store.replay(events, () => null)).toEqual(["not_found", "moved", "not_found"]);
    expect(await store.discard(events)).toEqual(["not_found", "wrong_state", "not_found"]);
    expect(await store.get(ENDPOINT, "nul\0")).toBe(undefined);
  },
);

testOnDatabase("headers that are no JSON any more stop no claim", async ({ open, sql }) => {
  const store = await open();
  await accept(store, "evt_1");
  await sql(`UPDATE inbox_body SET received = '{"at":'`);
  const { events } = await claim(store);
  expect(events).toMatchObject([{ eventId: "evt_1", received: { at: RECEIVED_AT, headers: {} } }]);
});

/** Stores of as many processes, and the codes of the errors that their statements get. */
async function openWatched({ open }: Database, processes: number) {
  const codes: unknown[] = [];
  const stores = Array.from({ length: processes }, () => open(watchedPool(codes)));
  const opened = await Promise.all(stores);
  // Of simultaneous migrations all but one fail.
  codes.length = 0;
  return { stores: opened, codes };
}

testOnDatabase(
  "processes that accept the same ids in opposite orders never deadlock",
  async (database) => {
    const { stores, codes } = await openWatched(database, 4);
    for (let round = 0; round < 30; round++) {
      const ids = Array.from({ length: 50 }, (_, index) => `evt_${round}_${index}`);
      const results = await Promise.all(
        stores.map((store, index) => {
          const accepts = (index % 2 === 0 ? ids : ids.toReversed()).map((id) => newEvent(id));
          return commit(store, { accepts });
        }),
      );
      const statuses = results.flatMap(({ accepts }) => accepts.map(({ status }) => status));
      expect(statuses.filter((status) => status === "accepted")).toHaveLength(ids.length);
    }
    expect(codes).toEqual([]);
  },
);

const keyOf = (content: string): Buffer => createHash("sha256").update(content).digest();

/** As a sender would deliver it whose ids are not signed. */
function unsigned(eventId: string, content: string): NewEvent {
  return newEvent(eventId, { body: Buffer.from(content), contentKey: keyOf(content) });
}

testOnDatabase(
  "two processes that store the same contents in opposite orders do not deadlock",
  async (database) => {
    const { stores, codes } = await openWatched(database, 2);
    // Both have begun before either goes on: a transaction holds the content in their middle.
    const held = await database.hold(
      `INSERT INTO inbox (endpoint, event_id, type, state, due_at, received_at, token, owner, body_hash, content_key)
       VALUES ('default', 'evt_held', 't', 'done', 0, 0, 0, 0, '', '\\x${keyOf("held").toString("hex")}')`,
    );
    const commits = Promise.all(
      stores.map((store, index) => {
        const [first, last] = index === 0 ? ["x", "y"] : ["y", "x"];
        const contents = [first, "held", last] as string[];
        const accepts = contents.map((content, nth) => unsigned(`${index}_${nth}`, content));
        return commit(store, { accepts });
      }),
    );
    // One of them waits for the other.
    const waiting = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND position($1 IN query) > 0`;
    await expect
      .poll(() => database.sql(waiting, [`${database.name}.commit_batch`]))
      .toEqual([{ n: 2 }]);
    await held.end();
    const accepts = (await commits).flatMap((result) => result.accepts);
    expect(accepts.filter(({ status }) => status === "accepted")).toHaveLength(3);
    expect(codes).toEqual([]);
  },
);

/** Runs this before each INSERT into a table. */
async function addTrigger({ sql, name }: Database, table: string, body: string): Promise<void> {
  await sql(`
    CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN
      ${body.replaceAll("SCHEMA", () => name)}; RETURN NEW; END $f$;
    CREATE TRIGGER meddle BEFORE INSERT OR UPDATE ON ${table} FOR EACH ROW EXECUTE FUNCTION meddle()`);
}

testOnDatabase(
  "a transaction that PostgreSQL ended because of others is tried again",
  async (database) => {
    const { stores, codes } = await openWatched(database, 1);
    await database.sql("CREATE SEQUENCE failures");
    const fail =
      "IF nextval('SCHEMA.failures') < 3 THEN RAISE EXCEPTION 'once' USING ERRCODE = '40001'; END IF";
    await addTrigger(database, "inbox_body", fail);
    await accept(stores[0]!, "evt_1");
    expect(codes).toEqual(["40001", "40001"]);
  },
);

testOnDatabase(
  "a warning of the server, as of a database that must be vacuumed soon, fails no commit",
  async (database) => {
    const store = await database.open();
    await addTrigger(database, "inbox", "RAISE WARNING 'soon'");
    await expect(accept(store, "evt_1")).resolves.toMatchObject({ token: 0 });
  },
);

testOnDatabase(
  "commits wait for the disk where the role has synchronous_commit off",
  async (database) => {
    const store = await database.open(poolOfTest(3, "-c synchronous_commit=off"));
    await database.sql("CREATE TABLE seen (setting text)");
    const see = "INSERT INTO SCHEMA.seen VALUES (current_setting('synchronous_commit'))";
    await addTrigger(database, "inbox", see);
    const lease = await accept(store, "evt_1", { state: "leased" });
    await settle(store, lease);
    await store.replay([{ endpoint: ENDPOINT, eventId: "evt_1" }], () => null);
    expect(await database.sql("SELECT DISTINCT setting FROM seen")).toEqual([{ setting: "on" }]);
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
  const timers = globalThis.setTimeout;
  // The deadline passes at once.
  globalThis.setTimeout = ((callback: () => void) => timers(callback, 0)) as typeof setTimeout;
  try {
    await expect(postgresStore({ pool }).open(CONTEXT)).rejects.toMatchObject({
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

testOnDatabase("the loss of idle connections is not noticed", async ({ open, schema, sql }) => {
  const application = `idle-${schema.split(" ").at(-1)}`;
  const pool = poolOfTest(4, `-c application_name=${application}`);
  const store = await open(pool);
  await Promise.all([0, 1, 2].map(() => store.list({})));
  let removed = 0;
  (pool as unknown as EventEmitter).on("remove", () => (removed += 1));
  const end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1";
  const ended = await sql(end, [application]);
  expect(ended.length).toBeGreaterThan(0);
  await eventually("the pool has lost them", () => removed >= ended.length);
  await accept(store, "evt_1");
});

testOnDatabase("a lease that no owner has is freed when a store opens", async ({ open, sql }) => {
  const first = await open();
  await accept(first, "evt_1", { state: "leased" });
  await accept(first, "evt_2", { state: "leased" });
  await sql("UPDATE inbox SET owner = 99 WHERE event_id = 'evt_1'");
  const second = await open();
  const freed = async () => second.get(ENDPOINT, "evt_1");
  await eventually("the lease is freed", async () => (await freed())?.state === "ready");
  expect(await freed()).toMatchObject({ crashes: 1, possiblyRepeated: true });
  expect((await second.get(ENDPOINT, "evt_2"))?.state).toBe("leased");
});

test("a server that ends in the moment in which it lets a client in does not end the process", async () => {
  const message = (type: string, content: string): Buffer => {
    const head = Buffer.alloc(5, type);
    head.writeInt32BE(content.length + 4, 1);
    return Buffer.concat([head, Buffer.from(content, "latin1")]);
  };
  const answer = Buffer.concat([
    message("R", "\0\0\0\0"), // let in
    message("Z", "I"), // ready
    message("E", "SFATAL\0VFATAL\0C57P01\0Mthe server ends\0\0"),
  ]);
  const server = createServer((socket) => socket.once("data", () => socket.end(answer)));
  server.listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const connectionString = `postgres://nobody@127.0.0.1:${(server.address() as AddressInfo).port}/none`;
  const refused = { code: "store_failed" };
  await expect(postgresStore({ connectionString }).open(CONTEXT)).rejects.toMatchObject(refused);
  const examining = withSchema(connectionString, "signalbox", () => Promise.resolve());
  await expect(examining).rejects.toMatchObject(refused);
});
