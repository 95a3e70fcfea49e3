import { Option, type Command } from "#commander";
import { formatAge, formatCount, formatMoment } from "../../base/text/format.js";
import { exportedEvent } from "../../kit/inbox/exported-event.js";
import type { EndpointState } from "../../kit/inbox/open-inbox.js";
import { joinRefusals } from "../../kit/inbox/situation/receiver-report.js";
import { describeEndpoints } from "../../kit/inbox/situation/situation.js";
import { addActivity, noActivity, percentileOf, type Activity } from "../../kit/inbox/activity.js";
import type { Failure } from "../../kit/inbox/situation/trouble.js";
import { EVENT_STATES, type InboxEntry, ANYTHING } from "../../kit/inbox/stored-events.js";
import type { CommandContext } from "../console/define-command.js";
import { CliError, EXIT } from "../console/exit.js";
import { wholeNumber } from "../console/options.js";
import {
  echoed,
  shortened,
  formatTable,
  printable,
  shellQuote,
  type Terminal,
} from "../console/terminal.js";
import {
  colourOf,
  listLines,
  noteRefusals,
  payloadText,
  refusalLines,
  showLines,
} from "./event-fields.js";
import { ignoredText } from "./ignored.js";
import {
  defineInboxCommand,
  inboxCommand,
  noteIfEmpty,
  runsOnInbox,
  type EndpointPlace,
} from "./open-inbox.js";
import {
  addFilters,
  isFiltered,
  queryOf,
  searchPages,
  JUDGED_SINCE,
  findEvent,
} from "./select-events.js";

export function addListCommand(parent: Command, context: CommandContext): void {
  const command = addFilters(
    defineInboxCommand(parent, "ls", "List events, newest first.").addOption(
      new Option("--state <state>", "only events in this state").choices(EVENT_STATES),
    ),
  )
    .option("--limit <n>", "the maximum number of events", wholeNumber(1, 100_000), 50)
    .option("--after <seq>", "the next page; the last one says its number", wholeNumber(1));
  runsOnInbox(command, context, async (inbox, options, { cli: { terminal, signal } }) => {
    const { state, limit, after, json } = options;
    const found: InboxEntry[] = [];
    const query = { ...queryOf(options), state, beforeSeq: after };
    for await (const entries of searchPages(inbox, query)) {
      signal.throwIfAborted();
      found.push(...entries);
      // One event more than the limit tells that there is another page.
      if (found.length > limit) break;
    }
    const page = found.slice(0, limit);
    if (json) page.forEach(terminal.printJson);
    else if (page.length > 0) {
      const { createTitles } = await import("../../page/inbox/answers.js");
      const titles = await createTitles(inbox)(page);
      listLines(page, titles, inbox, terminal).forEach(terminal.print);
    }
    if (found.length > limit)
      terminal.note(
        `there are older events; for the next page add --after ${page.at(-1)?.seq ?? 0}`,
      );
    if (page.length > 0 || after !== undefined) return;
    if (isFiltered(options))
      terminal.note(`no event${state === undefined ? "" : ` that is ${state}`} matches`);
    else if (state !== undefined) terminal.note(`no event is ${state}`);
    await noteIfEmpty(inbox, terminal);
  });
}

export function addShowCommand(parent: Command, context: CommandContext): void {
  const command = defineInboxCommand(
    parent,
    "show",
    "Show an event: its state, its last error, and its delivery.",
  )
    .argument("<id>", "the event's id")
    .option("--payload", "also print the payload, indented")
    .addOption(
      new Option("--raw", "print only the payload, byte for byte").conflicts(["payload", "json"]),
    );
  runsOnInbox(command, context, async (inbox, id, options, { cli: { terminal } }) => {
    const event = await findEvent(inbox, id);
    if (event === undefined) {
      await noteRefusals(inbox, id, terminal);
      const where =
        options.endpoint === undefined
          ? "in this inbox"
          : `of endpoint "${echoed(options.endpoint)}"`;
      throw new CliError(EXIT.failed, `no event ${echoed(id)} ${where}`);
    }
    if (options.raw) {
      if (event.rawBody === null)
        throw new CliError(EXIT.failed, `the payload of ${echoed(id)} was deleted`);
      return terminal.write(event.rawBody);
    }
    if (options.json) {
      const { bodyBase64, ...rest } = exportedEvent(event);
      return terminal.printJson(options.payload ? { ...rest, bodyBase64 } : rest);
    }
    showLines(event, inbox.now, terminal.paint).forEach(terminal.print);
    // Not broken at the edge of a terminal, because a line end inside a string is not JSON.
    if (options.payload) await terminal.write(`\n${payloadText(event)}\n`);
  });
}

export function addStatsCommand(parent: Command, context: CommandContext): void {
  const command = defineInboxCommand(
    parent,
    "stats",
    "Say what is wrong with each endpoint, and count the events in each state. The exit code is 1 if a person must act.",
  ).addOption(JUDGED_SINCE);
  runsOnInbox(command, context, async (inbox, { since, json }, { cli: { terminal } }) => {
    const states = await inbox.states(inbox.now, since);
    const { level, lines, endpoints } = describeEndpoints(states);
    // A receiver that is stopped while nothing waits is told, and fails no script.
    const needsNobody = endpoints.every(({ problems, stats }) =>
      problems.every(({ id }) => id === "inbox_not_owned" && stats.ready === 0),
    );
    const exitCode = needsNobody ? EXIT.ok : EXIT.failed;
    const refusals = joinRefusals(endpoints.map((each) => each.refusals));
    const latency = latencyOf(await inbox.activity({ minutes: 1, spans: 60 }));
    if (json) {
      const rows = endpoints.map(rowOf);
      const endpoint = rows.length === 1 ? rows[0]?.endpoint : null;
      const summary = lines.join(" ");
      const sums = { ...total(rows), ...latency, refusals, level, summary };
      terminal.printJson({ endpoint, ...sums, endpoints: rows });
      return exitCode;
    }
    const { paint, print } = terminal;
    lines.map(level === "ok" ? paint.green : paint.red).forEach(print);
    refusalLines(refusals, inbox.now).forEach(print);
    const counts = endpoints.map(({ endpoint, stats }) => [
      shortened(endpoint, 24),
      ...EVENT_STATES.map((state) => {
        const count = String(stats[state]).padStart(state.length);
        return stats[state] > 0 ? colourOf(state, paint)(count) : count;
      }),
    ]);
    const headings = ["ENDPOINT", ...EVENT_STATES.map((state) => state.toUpperCase())];
    formatTable([headings, ...counts]).forEach(print);
    for (const each of inbox.inboxes) {
      const ignored = await ignoredText(each, inbox.now);
      const name = inbox.isShared ? `${printable(each.endpoint)}: ` : "";
      if (ignored !== null) print(`${name}${ignored}`);
    }
    const { p50Ms, p95Ms } = latency;
    if (p50Ms !== null && p95Ms !== null)
      print(
        `p50 ${boundText(p50Ms)}, p95 ${boundText(p95Ms)} from received to done in the last hour`,
      );
    return exitCode;
  });
}

function latencyOf(activities: readonly Activity[]) {
  const { durations } = activities.reduce(addActivity, noActivity());
  return { p50Ms: percentileOf(durations, 50), p95Ms: percentileOf(durations, 95) };
}

const boundText = (ms: number): string =>
  ms < 10_000 ? `${formatCount(ms)} ms` : ms === Infinity ? "over 1 h" : formatAge(ms);

type State = ReturnType<typeof describeEndpoints<EndpointState>>["endpoints"][number];

function rowOf({ endpoint, stats, facts: { pause, hasReceiver }, refusals, level, text }: State) {
  const { oldestReadyAgeMs, oldestReceivedAgeMs } = stats;
  const ages = {
    oldestReadyAgeMs: oldestReadyAgeMs ?? 0,
    oldestReceivedAgeMs: oldestReceivedAgeMs ?? 0,
  };
  return { endpoint, ...stats, ...ages, pause, hasReceiver, refusals, level, summary: text };
}

/** The sums, the largest ages, the first pause; and no receiver if an endpoint has none. */
function total(rows: readonly ReturnType<typeof rowOf>[]): object {
  const all: Record<string, unknown> = {};
  for (const name of [...EVENT_STATES, "total", "waiting"] as const)
    all[name] = rows.reduce((sum, row) => sum + row[name], 0);
  for (const name of ["oldestReadyAgeMs", "oldestReceivedAgeMs"] as const)
    all[name] = Math.max(...rows.map((row) => row[name]));
  const pauses = rows.flatMap(({ pause }) => pause ?? []).sort((a, b) => a.since - b.since);
  const worst = [false, null, true].find((has) =>
    rows.some(({ hasReceiver }) => hasReceiver === has),
  );
  const [blocking = null] = rows
    .flatMap((row) => row.blocking ?? [])
    .sort((a, b) => a.since - b.since);
  return { ...all, blocking, pause: pauses[0] ?? null, hasReceiver: worst ?? null };
}

export function addFailuresCommand(parent: Command, context: CommandContext): void {
  const command = defineInboxCommand(
    parent,
    "failures",
    "Group the events that fail now by their error: those that wait for another attempt, and the dead ones.",
  ).option("--limit <n>", "the maximum number of errors", wholeNumber(1, 10_000), 10);
  runsOnInbox(command, context, async (inbox, options, { cli: { terminal } }) => {
    const { inboxes, isShared, now } = inbox;
    const all = inboxes.map(async ({ endpoint, failures: read }) =>
      (await read()).map((failure) => ({ endpoint, ...failure })),
    );
    const failures = (await Promise.all(all)).flat().sort((a, b) => b.count - a.count);
    for (const failure of failures.slice(0, options.limit)) {
      const place = { ...options, endpoint: isShared ? failure.endpoint : undefined };
      if (options.json) terminal.printJson(failure);
      else linesOf(failure, failures, place, now, terminal).forEach(terminal.print);
    }
    const others = failures.length - options.limit;
    if (others > 0)
      terminal.note(`there are ${formatCount(others, "other error")}: give a larger --limit`);
    if (failures.length > 0) return;
    terminal.note("no event fails");
    await noteIfEmpty(inbox, terminal);
  });
}

/** Longer ones are cut; what follows is seldom needed to find the events. */
const SHOWN_ERROR = 200;
/**
 * A command with so much of the error fits into 60 columns. It has more if another error has this
 * too.
 */
const LEAST_ERROR = 36;

function linesOf(
  { error, count, waiting, dead, firstSeen, lastSeen, subjects, subjectCount, heldCount }: Failure,
  all: readonly Failure[],
  place: Partial<EndpointPlace>,
  now: number,
  { paint }: Pick<Terminal, "paint">,
): string[] {
  const states = [
    waiting > 0 ? `${formatCount(waiting)} waiting` : "",
    dead > 0 ? `${formatCount(dead)} dead` : "",
    heldCount > 0 ? `${formatCount(heldCount)} behind them` : "",
  ];
  const others = subjectCount - subjects.length;
  const about = [
    ...subjects.map((subject) => printable(subject)),
    ...(others > 0 ? [`${formatCount(others)} more`] : []),
  ];
  const facts = [
    place.endpoint === undefined ? "" : `endpoint ${printable(place.endpoint)}`,
    ...states.filter((state) => state !== ""),
    `first failed ${formatMoment(firstSeen, now)}`,
    `last ${formatMoment(lastSeen, now)}`,
    about.join(", "),
  ];
  let length = LEAST_ERROR;
  const characters = Array.from(error);
  const beginningOf = (end: number): string => characters.slice(0, end).join("");
  const isShared = (text: string): boolean =>
    all.some((other) => other.error !== error && other.error.includes(text));
  while (length < characters.length && isShared(beginningOf(length))) length += 1;
  const beginning = beginningOf(length);
  // No value of an option is blank or begins with a dash.
  const words = /^\s*(-|$)/.test(beginning) ? `${ANYTHING}${beginning}` : beginning;
  return [
    `${paint.red(formatCount(count).padStart(6))}  ${paint.bold(shortened(error, SHOWN_ERROR))}`,
    `        ${facts.filter((fact) => fact !== "").join("; ")}`,
    `        ${paint.dim(`$ ${inboxCommand(`inbox retry --error ${shellQuote(words)}`, place)}`)}`,
  ];
}
