import { gapBefore } from "../../../page/timeline/gap-before.js";
import type { TimelineStep } from "../../../page/timeline/timeline-step.js";
import { printable, shortened } from "../../console/printable.js";
import { formatTable } from "../../console/table.js";
import type { Paint } from "../../console/terminal.js";

/** An error's first line can be long. */
const DETAIL_LENGTH = 300;
/** The beginning of a registration's id is enough to tell it from another one. */
const LONG_ID = /(\bwh_\w{8})[\w-]+/;

/** A line for each step: the time of this machine, the lane, and what happened. */
export function traceLines(steps: readonly TimelineStep[], now: number, paint: Paint): string[] {
  const tones = {
    good: paint.green,
    bad: paint.red,
    warn: paint.yellow,
    busy: paint.bold,
    idle: paint.dim,
  };
  const groups = steps.map((step, index) => {
    const { at, lane, tone, text } = step;
    const previous = steps[index - 1];
    const isNewDelivery =
      step.delivery !== steps.slice(0, index).findLast((each) => each.lane === lane)?.delivery;
    const remarks = [dayOf(step, previous), gapOf(step, previous, now)].filter(
      (remark) => remark !== "",
    );
    const details = detailsOf(step, isNewDelivery).map((detail) => ["", "", paint.dim(detail)]);
    const first = [timeOfDay(at), lane, tones[tone](printable(text))];
    return { remarks, rows: [first, ...details] };
  });
  const lines = formatTable(groups.flatMap(({ rows }) => rows));
  // The remarks are no cells: a long one would move all texts.
  return groups.flatMap(({ remarks, rows }) => [
    ...remarks.map(paint.dim),
    ...lines.splice(0, rows.length),
  ]);
}

function detailsOf(
  { delivery, serviceAt, detail }: TimelineStep,
  isNewDelivery: boolean,
): string[] {
  return [
    ...(delivery === undefined || !isNewDelivery
      ? []
      : [printable(delivery).replace(LONG_ID, "$1…")]),
    ...(serviceAt === undefined
      ? []
      : [`service's clock: ${dayOfTime(serviceAt)} ${timeOfDay(serviceAt).slice(0, 8)}`]),
    ...(detail === undefined ? [] : [shortened(detail.split("\n", 1)[0] ?? "", DETAIL_LENGTH)]),
  ];
}

function gapOf(step: TimelineStep, previous: TimelineStep | undefined, now: number): string {
  const gap = gapBefore(step, previous, now);
  return gap && `… ${gap}`;
}

function dayOf({ at }: TimelineStep, previous: TimelineStep | undefined): string {
  const day = dayOfTime(at);
  return previous === undefined || dayOfTime(previous.at) !== day ? day : "";
}

/** As `dev` and `emulator` print it. */
const timeOfDay = (at: number): string =>
  `${new Date(at).toTimeString().slice(0, 8)}.${String(Math.trunc(at) % 1000).padStart(3, "0")}`;

function dayOfTime(at: number): string {
  const date = new Date(at);
  const parts = [date.getFullYear(), date.getMonth() + 1, date.getDate()];
  return parts.map((part) => String(part).padStart(2, "0")).join("-");
}
