import { expect, test } from "vitest";
import { traceLines } from "../../../../../src/cli/service/trace/trace-command.js";

const same = (text: string): string => text;
const PAINT = { bold: same, dim: same, red: same, green: same, yellow: same };

test("a delivery is named where it is another one than before in its lane", () => {
  const step = { lane: "sender", kind: "attempt", tone: "good", text: "sent" } as const;
  const steps = ["1", "1", "2"].map((number, at) => {
    return { ...step, at, delivery: `delivery ${number} to wh_0123456789` };
  });
  const details = traceLines(steps, 3, PAINT).filter((line) => line.includes("delivery"));
  expect(details.map((line) => line.trim())).toEqual([
    "delivery 1 to wh_01234567…",
    "delivery 2 to wh_01234567…",
  ]);
});
