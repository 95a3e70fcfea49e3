import { expect, test } from "vitest";
import { memoryStore } from "../../src/stores/memory.js";
import { storeContract, type ContractMedium } from "./store-contract.js";
import { hasServer, testWith } from "../prerequisites.js";
import { plainMedium } from "./plain-medium.js";
import { POSTGRES_PORT, postgresMedium } from "./postgres-medium.js";
import { sqliteMedium } from "./sqlite-medium.js";

const MEDIA: Record<string, () => ContractMedium | Promise<ContractMedium>> = {
  memory() {
    const store = memoryStore();
    return { createStore: () => store, destroy: async () => {} };
  },
  sqlite: () => sqliteMedium(false),
  "sqlite, shared": () => sqliteMedium(true),
  postgres: postgresMedium,
};

const hasPostgres = await hasServer(POSTGRES_PORT);

for (const [store, createMedium] of Object.entries(MEDIA)) {
  const testOn = testWith(store !== "postgres" || hasPostgres);
  for (const { guarantee, name, run } of storeContract(createMedium)) testOn(`${store}: ${guarantee}, ${name}`, run);
}

test("every guarantee of the port has a case, and no case has the name of another", () => {
  const cases = storeContract(() => plainMedium());
  const guarantees = new Set(cases.map(({ guarantee }) => guarantee));
  expect([...guarantees].toSorted()).toEqual(Array.from({ length: 14 }, (_, index) => `G${index + 1}`).toSorted());
  expect(new Set(cases.map((each) => each.name)).size).toBe(cases.length);
});
