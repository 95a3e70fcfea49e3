import { label, svg } from "./style.js";

export interface Bar {
  label: string;
  value: number;
  /** What stands behind the bar. */
  text: string;
  isOurs: boolean;
}

const BAR_HEIGHT = 22;
const ROW_HEIGHT = 34;
const LABEL_WIDTH = 280;
const BAR_WIDTH = 330;
const TOP = 44;

/** Draws one horizontal bar for each value, all on one scale. */
export function drawBars(title: string, bars: readonly Bar[], note: string): string {
  const most = Math.max(...bars.map(({ value }) => value));
  const rows = bars.map(({ label: name, value, text, isOurs }, index) => {
    const y = TOP + index * ROW_HEIGHT;
    const width = Math.round((value / most) * BAR_WIDTH);
    const weight = isOurs ? " strong" : "";
    return [
      label(LABEL_WIDTH - 12, y + 16, name, `end${weight}`),
      `<rect x="${LABEL_WIDTH}" y="${y}" width="${width}" height="${BAR_HEIGHT}" rx="3" class="${isOurs ? "ours" : "others"}"/>`,
      label(LABEL_WIDTH + width + 10, y + 16, text, `soft${weight}`),
    ].join("");
  });
  const height = TOP + bars.length * ROW_HEIGHT + 28;
  const heading = label(12, 22, title, "strong");
  return svg({ width: 800, height, title }, [heading, ...rows, label(12, height - 12, note, "soft")]);
}
