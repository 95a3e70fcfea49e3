import { label, svg } from "./style.js";

const LANE_WIDTH = 205;
const BOX = { width: 150, height: 36 };
const STEP_HEIGHT = 44;
const TOP = 24;

/** Draws a text such as `delivery.txt`: a lane for each actor, and the steps from top to bottom. */
export function drawLanes(source: string, title: string): string {
  const lines = source.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("#"));
  const lanes = lines.flatMap((line) =>
    [...line.matchAll(/^(\w+): +(.+)$/g)].map(([, name, text]) => ({ name, text })),
  );
  const steps = lines.flatMap((line) =>
    [...line.matchAll(/^(\w+)(?: -> (\w+))? {2,}(.+)$/g)].map(([, from, to, text]) => ({
      from,
      to,
      text,
    })),
  );
  if (lanes.length + steps.length !== lines.length)
    throw new Error("a line is neither a lane nor a step");
  const centreOf = (name: string | undefined): number => {
    const index = lanes.findIndex((lane) => lane.name === name);
    if (index === -1) throw new Error(`there is no lane ${name}`);
    return (index + 0.5) * LANE_WIDTH;
  };
  const size = {
    width: lanes.length * LANE_WIDTH,
    height: TOP + BOX.height + (steps.length + 0.5) * STEP_HEIGHT,
  };
  return svg({ ...size, title }, [
    ...lanes.map(({ name, text = "" }) => drawLane(centreOf(name), text, size.height)),
    ...steps.map(({ from, to, text = "" }, index) => {
      const y = TOP + BOX.height + (index + 1) * STEP_HEIGHT;
      return to === undefined
        ? drawOwnStep(centreOf(from), y, text)
        : drawArrow(centreOf(from), centreOf(to), y, text);
    }),
  ]);
}

function drawLane(x: number, text: string, height: number): string {
  const box = `x="${x - BOX.width / 2}" y="${TOP / 2}" width="${BOX.width}" height="${BOX.height}" rx="8"`;
  return [
    `<line x1="${x}" y1="${TOP / 2 + BOX.height}" x2="${x}" y2="${height - 4}" class="lane"/>`,
    `<rect ${box} class="box"/>`,
    label(x, TOP / 2 + BOX.height / 2 + 5, text, "middle strong"),
  ].join("");
}

function drawArrow(from: number, to: number, y: number, text: string): string {
  const side = Math.sign(to - from);
  const tip = to - side * 2;
  return [
    `<line x1="${from + side * 2}" y1="${y}" x2="${tip - side * 8}" y2="${y}" class="line"/>`,
    `<path d="M${tip} ${y} l${-side * 9} -4.5 v9 z" class="head"/>`,
    label((from + to) / 2, y - 7, text, "middle"),
  ].join("");
}

/** A step that stays in its lane: a dot on the lane, and the text beside it. */
function drawOwnStep(x: number, y: number, text: string): string {
  return `<circle cx="${x}" cy="${y - 4}" r="5" class="head"/>${label(x + 14, y + 1, text)}`;
}
