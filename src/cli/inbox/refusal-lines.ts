import { formatCount, formatMoment } from "../../base/text/format.js";
import { joinRefusals, readNews } from "../../kit/inbox/receiver-report.js";
import type { RefusedDelivery, Refusals } from "../../kit/inbox/stored-events.js";
import { printable, type Terminal } from "../console/terminal.js";
import type { CommandInbox } from "./open-inbox.js";

const SHOWN = 3;

/** The deliveries that were refused in the last 24 hours, and the newest of them. */
export function refusalLines({ byCode, examples }: Refusals, now: number): string[] {
  if (byCode.length === 0) return [];
  const counts = byCode
    .map(({ code, count }) => `${formatCount(count)} ${printable(code)}`)
    .join(", ");
  return [
    `Refused in the last 24 hours: ${counts}. docs/errors.md, Answer codes, says what each needs.`,
    ...examples.slice(0, SHOWN).map((example) => `  ${exampleText(example, now)}`),
  ];
}

/**
 * Notes why an event may not have arrived: refused deliveries that claim to be it, or else all of
 * them.
 */
export async function noteRefusals(
  { store, endpoints, now }: CommandInbox,
  eventId: string,
  terminal: Pick<Terminal, "note">,
): Promise<void> {
  const all: Refusals[] = [];
  for (const endpoint of endpoints) all.push((await readNews(store, endpoint, now)).refusals);
  for (const line of refusalsOf(eventId, joinRefusals(all), now)) terminal.note(line);
}

function refusalsOf(eventId: string, refusals: Refusals, now: number): string[] {
  const own = refusals.examples.filter((example) => example.eventId === eventId);
  if (own.length === 0) return refusalLines(refusals, now);
  return own.map(
    (example) =>
      `the receiver refused a delivery that names this event ${exampleText(example, now)}`,
  );
}

function exampleText({ at, code, address, eventId }: RefusedDelivery, now: number): string {
  const from = address === null ? "" : ` from ${printable(address)}`;
  const id = eventId === null ? "" : `, event ${printable(eventId)}`;
  return `${formatMoment(at, now)}: ${printable(code)}${from}${id}`;
}
