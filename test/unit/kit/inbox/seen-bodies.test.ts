import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { createSeenBodies } from "../../../../src/kit/inbox/identity.js";

const hashOf = (text: string): Buffer => createHash("sha256").update(text).digest();

test("the newest bodies are known, and each new one takes the place of the oldest", () => {
  const seen = createSeenBodies(3);
  // The newest first, as the store finds them.
  expect(["b", "b", "a"].map((text) => seen.addOlder(hashOf(text)))).toEqual([true, true, true]);
  expect(["c", "c", "a", "b"].map((text) => seen.add(hashOf(text)))).toEqual([
    false,
    true,
    true,
    true,
  ]);
  expect(seen.add(hashOf("d"))).toBe(false);
  expect(["b", "c", "d"].map((text) => seen.add(hashOf(text)))).toEqual([true, true, true]);
  expect(seen.add(hashOf("a"))).toBe(false);
});

test("no older bodies are taken than there is room for, and a forgotten one is new again", () => {
  const seen = createSeenBodies(2);
  expect(["c", "b", "a"].map((text) => seen.addOlder(hashOf(text)))).toEqual([true, false, false]);
  seen.forget(hashOf("c"));
  expect(seen.add(hashOf("c"))).toBe(false);
  expect(seen.add(hashOf("a"))).toBe(false);
});
