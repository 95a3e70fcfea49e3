import { expect, test } from "vitest";
import { gapBefore, type TimelineStep } from "../../../../src/page/timeline/timeline-step.js";

const step = (at: number, until = at): TimelineStep => {
  return { lane: "sender", at, until, kind: "attempt", tone: "good", text: "" };
};

test.each<[at: number, previous: TimelineStep | undefined, words: string]>([
  [20_000, step(0), "20 s later"],
  [20_000, step(0, 15_000), ""],
  [20_000, undefined, ""],
  [160_000, step(0), "now; next in 1 min"],
  [160_000, step(130_000), "30 s later"],
])("what is said before a step at %i, at 100,000: %#", (at, previous, words) => {
  expect(gapBefore(step(at), previous, 100_000)).toBe(words);
});
