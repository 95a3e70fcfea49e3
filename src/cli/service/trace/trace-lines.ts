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
  const { green: good, red: bad, yellow: warn, bold: busy, dim: idle } = paint;
  const tones = { good, bad, warn, busy, idle };
  const deliveryOfLane = new Map<string, string | undefined>();
  const groups = steps.map((step, index) => {
    const { at, lane, tone, text, delivery } = step;
    const isNewDelivery = delivery !== deliveryOfLane.get(lane);
    deliveryOfLane.set(lane, delivery);
    const previous = steps[index - 1];
    const isNewDay = previous === undefined || dayOf(previous.at) !== dayOf(at);
    const gap = gapBefore(step, previous, now);
    const remarks = [isNewDay ? dayOf(at) : "", gap && `… ${gap}`].filter((each) => each !== "");
    const details = detailsOf(step, isNewDelivery).map((detail) => ["", "", paint.dim(detail)]);
    return { remarks, rows: [[timeOf(at), lane, tones[tone](printable(text))], ...details] };
  });
  const lines = formatTable(groups.flatMap(({ rows }) => rows));
  // The remarks are no cells: a long one would move all texts.
  return groups.flatMap(({ remarks, rows }) => [
    ...remarks.map(paint.dim),
    ...lines.splice(0, rows.length),
  ]);
}

function detailsOf({ delivery, serviceAt, detail }: TimelineStep, isNewDelivery: boolean) {
  const details: string[] = [];
  if (delivery !== undefined && isNewDelivery)
    details.push(printable(delivery).replace(LONG_ID, "$1…"));
  if (serviceAt !== undefined)
    details.push(`service's clock: ${dayOf(serviceAt)} ${timeOf(serviceAt).slice(0, 8)}`);
  if (detail !== undefined) details.push(shortened(detail.split("\n", 1)[0] ?? "", DETAIL_LENGTH));
  return details;
}

/** As `dev` and `emulator` print it. */
const timeOf = (at: number): string =>
  `${new Date(at).toTimeString().slice(0, 8)}.${String(Math.trunc(at) % 1000).padStart(3, "0")}`;

function dayOf(at: number): string {
  const date = new Date(at);
  const parts = [date.getFullYear(), date.getMonth() + 1, date.getDate()];
  return parts.map((part) => String(part).padStart(2, "0")).join("-");
}
