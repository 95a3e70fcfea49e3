import { expect } from "vitest";
import { BROKEN_STORES } from "../../contract/broken-stores.js";
import { brokenMedium, failingOfItsGuarantee } from "../../contract/plain-medium.js";
import { postgresMedium } from "../../contract/postgres-medium.js";
import { testOnPostgres } from "./open-stores.js";

for (const { mistake, caught, usesGivenClock, ...broken } of BROKEN_STORES) {
  if (usesGivenClock === true) continue;
  testOnPostgres(`a store on PostgreSQL that ${mistake} fails the one case made for it`, async () => {
    const createMedium = async () => brokenMedium(await postgresMedium(), broken);
    expect(await failingOfItsGuarantee(caught, createMedium)).toEqual([caught]);
  });
}
