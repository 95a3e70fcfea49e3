import { afterAll, expect, test } from "vitest";
import { memoryStore } from "../../src/kit/stores/memory.js";
import { makeOwnPostgres, POSTGRES_BINARIES } from "../own-postgres.js";
import { hasServer, testWith } from "../prerequisites.js";
import { plainMedium } from "./plain-medium.js";
import { POSTGRES_PORT, POSTGRES_URL, postgresMedium } from "./postgres-medium.js";
import { sqliteMedium } from "./sqlite-medium.js";
import { storeContract, type ContractMedium } from "./store-contract.js";

// A server of its own need not write to the disk: the cases kill stores, not the server.
const own =
  process.env["TEST_POSTGRES_PORT"] === undefined && POSTGRES_BINARIES !== undefined
    ? await makeOwnPostgres(["fsync=off"])
    : undefined;
afterAll(() => own?.remove());
const url = own === undefined ? POSTGRES_URL : `postgres://postgres@127.0.0.1:${own.port}/postgres`;

const MEDIA: Record<string, () => ContractMedium | Promise<ContractMedium>> = {
  memory() {
    const store = memoryStore();
    return { createStore: () => store, destroy: async () => {} };
  },
  sqlite: () => sqliteMedium(false),
  "sqlite, shared": () => sqliteMedium(true),
  postgres: () => postgresMedium(url),
};

const hasPostgres = own !== undefined || (await hasServer(POSTGRES_PORT));

for (const [store, createMedium] of Object.entries(MEDIA)) {
  const testOn = testWith(store !== "postgres" || hasPostgres);
  for (const { guarantee, name, run } of storeContract(createMedium))
    testOn(`${store}: ${guarantee}, ${name}`, run);
}

test("every guarantee of the port has a case, and no case has the name of another", () => {
  const cases = storeContract(() => plainMedium());
  const guarantees = new Set(cases.map(({ guarantee }) => guarantee));
  expect([...guarantees].toSorted()).toEqual(
    Array.from({ length: 20 }, (_, index) => `G${index + 1}`).toSorted(),
  );
  expect(new Set(cases.map((each) => each.name)).size).toBe(cases.length);
});
