import { afterAll, beforeAll, expect, test } from "vitest";
import { postgresStore } from "../../../../src/kit/stores/postgres/postgres-store.js";
import { postgresMedium } from "../../../contract/postgres-medium.js";
import { storeContract } from "../../../contract/store-contract.js";
import { makeOwnPostgres, type OwnPostgres } from "../../../own-postgres.js";
import { CONTEXT } from "../open-stores.js";
import { hasPgbouncer, startPgbouncer, type Pgbouncer } from "./pgbouncer.js";

const testThrough = test.skipIf(!hasPgbouncer);

let server: OwnPostgres | undefined;
let pgbouncer: Pgbouncer;

beforeAll(async () => {
  if (!hasPgbouncer) return;
  // The cases kill stores, not the server.
  server = await makeOwnPostgres(["fsync=off"]);
  pgbouncer = await startPgbouncer(server);
});
afterAll(async () => {
  await pgbouncer?.stop();
  await server?.remove();
});

for (const { guarantee, name, run } of storeContract(() => postgresMedium(pgbouncer.url))) {
  testThrough(`pgbouncer: ${guarantee}, ${name}`, run);
}

testThrough(
  "with `options` in the connection string pgbouncer refuses, and the error says what to do",
  async () => {
    const connectionString = `${pgbouncer.url}?options=-c%20statement_timeout%3D0`;
    await expect(postgresStore({ connectionString }).open(CONTEXT)).rejects.toMatchObject({
      code: "store_failed",
      help: expect.stringContaining("options"),
      cause: expect.objectContaining({ message: expect.stringContaining("startup parameter") }),
    });
  },
);
