import { expect, test } from "vitest";
import { BROKEN_STORES } from "./broken-stores.js";
import { brokenMedium, failing, failingOfItsGuarantee, plainMedium } from "./plain-medium.js";
import { sqliteMedium } from "./sqlite-medium.js";

for (const { mistake, caught, knowsProcesses = false, ...broken } of BROKEN_STORES) {
  if (knowsProcesses) continue;
  test(`a store that ${mistake} fails the one case made for it`, async () => {
    expect(await failing(() => plainMedium(broken))).toEqual([caught]);
  });
  test(`a store on SQLite that ${mistake} fails the one case made for it`, async () => {
    const createMedium = async () => brokenMedium(await sqliteMedium(false), broken);
    expect(await failingOfItsGuarantee(caught, createMedium)).toEqual([caught]);
  });
}

test("a store that is built in the same way and breaks nothing fails none", async () => {
  expect(await failing(() => plainMedium())).toEqual([]);
});
