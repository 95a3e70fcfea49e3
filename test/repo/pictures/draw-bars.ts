import type { BenchChart } from "../../bench/report/tables.js";
import { label, svg } from "./style.js";

const BAR_HEIGHT = 22;
const ROW_HEIGHT = 34;
const LABEL_WIDTH = 280;
const BAR_WIDTH = 330;
const TOP = 44;

/**
 * Draws one horizontal bar for each value, all on one scale, with a line from the least to the
 * most.
 */
export function drawBars(title: string, bars: BenchChart["bars"], note: string): string {
  const most = Math.max(...bars.map((bar) => bar.most));
  const widthOf = (value: number): number => Math.round((value / most) * BAR_WIDTH);
  const rows = bars.map(({ label: name, value, text, isOurs, ...spread }, index) => {
    const y = TOP + index * ROW_HEIGHT;
    const [width, from, to] = [value, spread.least, spread.most].map(widthOf) as [
      number,
      number,
      number,
    ];
    const middle = y + BAR_HEIGHT / 2;
    const weight = isOurs ? " strong" : "";
    return [
      label(LABEL_WIDTH - 12, y + 16, name, `end${weight}`),
      `<rect x="${LABEL_WIDTH}" y="${y}" width="${width}" height="${BAR_HEIGHT}" rx="3" class="${isOurs ? "ours" : "others"}"/>`,
      `<path d="M${LABEL_WIDTH + from} ${middle - 4}v8m0-4H${LABEL_WIDTH + to}m0-4v8" class="spread"/>`,
      label(LABEL_WIDTH + to + 10, y + 16, text, `soft${weight}`),
    ].join("");
  });
  const height = TOP + bars.length * ROW_HEIGHT + 28;
  const heading = label(12, 22, title, "strong");
  return svg({ width: 800, height, title }, [
    heading,
    ...rows,
    label(12, height - 12, note, "soft"),
  ]);
}
