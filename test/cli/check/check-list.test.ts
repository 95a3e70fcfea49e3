import { expect, test } from "vitest";
import { CHECKS } from "../../../src/cli/commands/check/checks.js";
import { CASES, EVENT_NAMES } from "../deliveries/fixture-names.js";

const inCases = CHECKS.flatMap(({ cases = [] }) => cases);

test("a check depends on earlier ones of which it says nothing new", () => {
  for (const [index, { dependsOn = [] }] of CHECKS.entries()) {
    const earlier = CHECKS.slice(0, index).map(({ id }) => id);
    expect(earlier).toEqual(expect.arrayContaining([...dependsOn]));
  }
});

test("each delivery and each event of the fixtures is sent by a check, in one role", () => {
  const ofFixtures = inCases.filter((each) => typeof each === "string");
  expect(ofFixtures.sort()).toEqual([...CASES.map(({ name }) => name), ...EVENT_NAMES].sort());
});
