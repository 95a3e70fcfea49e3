import type { Command } from "#commander";
import { buildTimeline, type TimelineSides } from "../../../page/timeline/build-timeline.js";
import { gapBefore, type TimelineStep } from "../../../page/timeline/timeline-step.js";
import type { Cli } from "../../console/cli.js";
import { runs, type CommandContext, type OptionsOf } from "../../console/define-command.js";
import { CliError, EXIT, usageError } from "../../console/exit.js";
import { httpUrl } from "../../console/options.js";
import { echoed, printable, shortened, formatTable, type Paint } from "../../console/terminal.js";
import {
  DB,
  ENDPOINT,
  SCHEMA,
  findInbox,
  NO_INBOX,
  noteIfEmpty,
  withInbox,
} from "../../inbox/open-inbox.js";
import { noteRefusals } from "../../inbox/event-fields.js";
import { findEvent } from "../../inbox/select-events.js";
import { connectControl, DEFAULT_EMULATOR_URL } from "../emulator/remote-control.js";

/** The control API's largest page: nobody looks at more. */
const MOST_DELIVERIES = 500;

export function addCommand(program: Command, context: CommandContext) {
  const command = program
    .command("trace")
    .description(
      "Show the timeline of an event: every attempt of the emulator that sent it, and what the receiver's inbox did with it. One of the two is enough.",
    )
    .argument("<id>", "the event's id")
    .option(
      "--url <url>",
      `the emulator's address; or set SIGNALS_BASE_URL (default: ${DEFAULT_EMULATOR_URL})`,
      httpUrl,
    )
    .addOption(DB)
    .addOption(SCHEMA)
    .addOption(ENDPOINT)
    .option("--json", "print NDJSON");
  runs(command, context, trace);
  return command;
}

type TraceOptions = OptionsOf<typeof addCommand>;

async function trace(
  id: string,
  { url, json, ...place }: TraceOptions,
  { cli }: CommandContext,
): Promise<void> {
  const { terminal } = cli;
  const inbox = await readInbox(id, place, cli);
  const sender = await readSender(inbox?.event?.eventId ?? id, url, cli);
  const noEmulator = `no emulator at ${(cli.env["SIGNALS_BASE_URL"] || DEFAULT_EMULATOR_URL).replace(/^https?:\/\//, "")}`;
  if (inbox === null && sender === null)
    throw usageError(`there is nowhere to look, and ${noEmulator}: give --db, or --url`);
  const now = Date.now();
  const { steps, notes } = buildTimeline({ now, sender, inbox });
  if (steps.length === 0) {
    const unasked = sender === null ? ` (${noEmulator})` : "";
    throw new CliError(
      EXIT.failed,
      `no side that was asked knows the event ${echoed(id)}${unasked}`,
    );
  }
  if (json) for (const step of steps) terminal.printJson(step);
  else for (const line of traceLines(steps, now, terminal.paint)) terminal.print(line);
  for (const note of notes) terminal.note(note);
  if (sender === null) terminal.note(terminal.notePaint.dim(`Inbox only (${noEmulator}).`));
}

/** @returns null when there is no inbox to look into, and notes how to give one */
async function readInbox(
  id: string,
  place: Pick<TraceOptions, "db" | "schema" | "endpoint">,
  cli: Pick<Cli, "env" | "terminal">,
): Promise<TimelineSides["inbox"]> {
  const { terminal } = cli;
  const db = findInbox(place.db, cli);
  if (db === undefined) {
    terminal.note(NO_INBOX);
    return null;
  }
  return withInbox({ ...place, db }, async (inbox) => {
    const found = await findEvent(inbox, id);
    if (found === undefined) {
      await noteIfEmpty(inbox, terminal);
      await noteRefusals(inbox, id, terminal);
      return { event: null };
    }
    const { rawBody, ...event } = found;
    return { event: { ...event, bytes: rawBody?.byteLength ?? null } };
  });
}

/** @returns null when no emulator was given, and none is found */
async function readSender(
  eventId: string,
  url: URL | undefined,
  cli: Pick<Cli, "env" | "signal" | "terminal">,
): Promise<TimelineSides["sender"]> {
  try {
    const { control } = await connectControl(url, cli);
    const [{ items: deliveries }, { now }] = await Promise.all([
      control.listDeliveries({ event_id: eventId, limit: MOST_DELIVERIES }),
      control.now(),
    ]);
    return { deliveries, serviceNow: Date.parse(now) };
  } catch (error) {
    if (url !== undefined || !(error instanceof CliError)) throw error;
    return null;
  }
}

/** An error's first line can be long. */
const DETAIL_LENGTH = 300;
/** The beginning of a registration's id is enough to tell it from another one. */
const LONG_ID = /(\bwh_\w{8})[\w-]+/;

/** A line for each step: the time of this machine, the lane, and what happened. */
function traceLines(steps: readonly TimelineStep[], now: number, paint: Paint): string[] {
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
