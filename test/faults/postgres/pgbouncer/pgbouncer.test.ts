import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../../../src/base/time/clock.js";
import { postgresStore } from "../../../../src/kit/stores/postgres/postgres-store.js";
import { postgresMedium } from "../../../contract/postgres-medium.js";
import { storeContract } from "../../../contract/store-contract.js";
import { makeOwnPostgres, type OwnPostgres } from "../../../own-postgres.js";
import { areHandedOff, idsOf, startReceiver } from "../../child-process.js";
import { eventually } from "../../eventually.js";
import { inboxFiles } from "../../inbox-file.js";
import { eventThat, isAcknowledged, send } from "../../sender.js";
import { newSchema, takeForDead } from "../open-stores.js";
import { hasPgbouncer, startPgbouncer, type Pgbouncer } from "./pgbouncer.js";

const testThrough = test.skipIf(!hasPgbouncer);

let server: OwnPostgres | undefined;
/** In statement mode, which allows less than transaction mode does. */
let strict: Pgbouncer;
/** In transaction mode, before the server of the tests. */
let usual: Pgbouncer;

beforeAll(async () => {
  if (!hasPgbouncer) return;
  // The cases kill stores, not the server.
  server = await makeOwnPostgres(["fsync=off"]);
  strict = await startPgbouncer(
    { pool_mode: "statement" },
    `port=${server.port} user=postgres dbname=postgres`,
  );
  usual = await startPgbouncer({ pool_mode: "transaction" });
});
afterAll(async () => {
  await strict?.stop();
  await usual?.stop();
  await server?.remove();
});

for (const { guarantee, name, run } of storeContract(() => postgresMedium(strict.url))) {
  testThrough(`pgbouncer: ${guarantee}, ${name}`, run);
}

testThrough(
  "processes behind pgbouncer accept each id once, and take over the leases of a killed one",
  async () => {
    const { schema, name, admin } = newSchema();
    const config = { ...inboxFiles(), postgres: { connectionString: usual.url, schema } };
    const [killed, other] = await Promise.all([startReceiver(config), startReceiver(config)]);
    const events = Array.from({ length: 50 }, () => eventThat("fine"));
    const answers = await Promise.all(
      events.flatMap((event) => [send(killed.port, event), send(other.port, event)]),
    );
    expect(answers.every(isAcknowledged)).toBe(true);
    expect(answers.filter(({ body }) => !body.includes("duplicate")).length).toBe(events.length);
    const handedOff = (): string[] =>
      [killed, other].flatMap(({ lines }) => idsOf(lines, "handedOff"));
    await eventually("the hand-off of all", () => handedOff().length === events.length);
    const held = eventThat("waits");
    expect(isAcknowledged(await send(killed.port, held))).toBe(true);
    await killed.until("the callback", (lines) => idsOf(lines, "begun").includes(held.id));
    killed.kill("SIGKILL");
    await takeForDead(admin, name, held.id);
    await other.until("the take-over", (lines) => idsOf(lines, "begun").includes(held.id));
    other.kill("SIGUSR2");
    await other.until("the hand-off", areHandedOff([held.id]));
    const { rows } = await admin.query(
      `SELECT state, crashes FROM ${name}.inbox WHERE event_id = $1`,
      [held.id],
    );
    expect(rows).toEqual([{ state: "done", crashes: 1 }]);
  },
);

testThrough(
  "with `options` in the connection string pgbouncer refuses, and the error says what to do",
  async () => {
    const { schema } = newSchema();
    const connectionString = `${usual.url}?options=-c%20statement_timeout%3D0`;
    const store = postgresStore({ connectionString, schema });
    await expect(store.open({ endpoint: "default", clock: systemClock })).rejects.toMatchObject({
      code: "store_failed",
      help: expect.stringContaining("options"),
      cause: expect.objectContaining({ message: expect.stringContaining("startup parameter") }),
    });
  },
);
