import { expect, test } from "vitest";
import { storeContract } from "../../src/testing/index.js";
import { BROKEN_STORES } from "./broken-stores.js";
import { plainMedium, type Break } from "./plain-medium.js";

for (const { mistake, caught, ...broken } of BROKEN_STORES) {
  test(`a store that ${mistake} fails the one case made for it`, async () => {
    expect(await failing(broken)).toEqual([caught]);
  });
}

test("a store that is built in the same way and breaks nothing fails none", async () => {
  expect(await failing({})).toEqual([]);
});

async function failing(broken: Break): Promise<string[]> {
  const names: string[] = [];
  for (const { name, run } of storeContract(() => plainMedium(broken))) {
    await run().catch(() => names.push(name));
  }
  return names;
}
