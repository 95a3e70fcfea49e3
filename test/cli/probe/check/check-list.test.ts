import { expect, test } from "vitest";
import { CHECKS } from "../../../../src/cli/probe/check/checks.js";
import { CASES, EVENT_NAMES } from "../../deliveries/fixture-names.js";

test("a check depends on earlier ones of which it says nothing new", () => {
  for (const [index, { needs = [] }] of CHECKS.entries()) {
    const earlier = CHECKS.slice(0, index).map(({ id }) => id);
    expect(earlier).toEqual(expect.arrayContaining([...needs]));
  }
});

test("each event of the fixtures is sent by a check", () => {
  expect(CHECKS.flatMap(({ events = [] }) => events).sort()).toEqual([...EVENT_NAMES].sort());
});

test("a delivery names a check that has no other way to judge, and each such check has deliveries", () => {
  const sending = CHECKS.filter(({ run }) => run === undefined).map(({ id }) => id);
  const named = [...new Set(CASES.map(({ check }) => check))];
  expect(sending).toEqual(expect.arrayContaining(named));
  expect(named).toEqual(expect.arrayContaining(sending));
});
