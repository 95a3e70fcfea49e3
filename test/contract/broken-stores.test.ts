import { expect, test } from "vitest";
import { BROKEN_STORES } from "./broken-stores.js";
import { plainMedium, type Break } from "./plain-medium.js";
import { storeContract } from "./store-contract.js";

/**
 * @returns the names of the cases of these guarantees that fail; without guarantees, of all cases
 */
async function failing(broken: Break, guarantees?: readonly string[]): Promise<string[]> {
  const names: string[] = [];
  for (const { guarantee, name, run } of storeContract(() => plainMedium(broken))) {
    if (guarantees?.includes(guarantee) ?? true) await run().catch(() => names.push(name));
  }
  return names;
}

/** Only the cases of its guarantee run, because all cases of all broken stores take too long. */
test.each(BROKEN_STORES)(
  "a store that $mistake fails the one case made for it",
  async ({ caught, ...broken }) => {
    const about = storeContract(() => plainMedium()).filter(({ name }) => name === caught);
    const guarantees = about.map(({ guarantee }) => guarantee);
    expect(await failing(broken, guarantees)).toEqual([caught]);
  },
);

test("a store that is built in the same way and breaks nothing fails none", async () => {
  expect(await failing({})).toEqual([]);
});
