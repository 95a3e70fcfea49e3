import { expect, test } from "vitest";
import { CHECKS } from "../../../src/cli/commands/check/checks.js";
import { CASES, EVENT_NAMES } from "../fixture-names.js";

const inCases = CHECKS.flatMap(({ cases = [] }) => cases);

test("ids are unique, and made of a group and a name", () => {
  const ids = CHECKS.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.filter((id) => !/^[a-z]+\.[a-z0-9-]+$/.test(id))).toEqual([]);
});

test("what is required comes first, so that both kinds stand apart", () => {
  const kinds = CHECKS.map(({ kind }) => kind);
  expect(kinds.lastIndexOf("required")).toBeLessThan(kinds.indexOf("advised"));
});

test("a check depends on earlier ones of which it says nothing new", () => {
  for (const [index, { after = [] }] of CHECKS.entries()) {
    const earlier = CHECKS.slice(0, index).map(({ id }) => id);
    expect(earlier).toEqual(expect.arrayContaining([...after]));
  }
});

test("each delivery and each event of the fixtures is sent by a check, in one role", () => {
  const ofFixtures = inCases.filter((each) => typeof each === "string");
  expect(ofFixtures.sort()).toEqual([...CASES.map(({ name }) => name), ...EVENT_NAMES].sort());
});

test("every check says in plain sentences what is right and how to fix what is not", () => {
  for (const { title, hint } of CHECKS) {
    expect(title).toMatch(/^[A-Z].*\.$/);
    expect(hint).toMatch(/^[A-Z].*\.$/);
  }
});
