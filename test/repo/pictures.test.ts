import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { BenchResult } from "../bench/report/tables.js";
import { drawBars } from "./pictures/draw-bars.js";
import { drawLanes } from "./pictures/draw-lanes.js";

// `npm run docs` writes the files anew.
const PICTURES = "../../docs/pictures";
const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8");

test("the picture of a delivery is drawn from its text", async () => {
  const picture = drawLanes(read("pictures/delivery.txt"), "The way of a delivery");
  await expect(picture).toMatchFileSnapshot(`${PICTURES}/delivery.svg`);
});

test.each([
  [
    "throughput",
    "What it costs to have each event on disk before the answer: deliveries per second",
    /Express 5/,
  ],
  ["postgres", "Events per second, stored and marked as done", /./],
] as const)(
  "the chart of %s is drawn from the kept result of the bench",
  async (part, title, shown) => {
    const { chart } = (JSON.parse(read("../bench/result.json")) as BenchResult)[part] ?? {};
    if (chart === undefined) throw new Error(`the result lacks the chart of ${part}`);
    // Those that keep nothing come first, the quickest of each kind before the others.
    const isKept = ({ text }: { text: string }): number => Number(text.includes("each on disk"));
    const bars = chart.bars
      .filter(({ label }) => shown.test(label))
      .sort((a, b) => isKept(a) - isKept(b) || b.value - a.value);
    await expect(drawBars(title, bars, chart.note)).toMatchFileSnapshot(`${PICTURES}/${part}.svg`);
  },
);
