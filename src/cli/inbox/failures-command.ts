import type { Command } from "#commander";
import type { Failure } from "../../kit/inbox/inbox-facts.js";
import { formatCount, formatMoment } from "../../base/text/format.js";
import { printable, shortened } from "../console/printable.js";
import { shellQuote } from "../console/shell-quote.js";
import type { Terminal } from "../console/terminal.js";
import { runs, withExamples, type CommandContext } from "../console/define-command.js";
import { wholeNumber } from "../console/parse-option.js";
import { ANYTHING } from "../../kit/inbox/stored-events.js";
import { inboxCommand, type EndpointPlace } from "./inbox-place.js";
import { addInboxOptions, noteIfEmpty, withInbox } from "./open-inbox.js";

export function addFailuresCommand(parent: Command, context: CommandContext): void {
  const command = addInboxOptions(
    parent
      .command("failures")
      .description(
        "Group the events that fail now by their error: those that wait for another attempt, and the dead ones.",
      ),
  ).option("--limit <n>", "the maximum number of errors", wholeNumber(1, 10_000), 10);
  withExamples(command, [
    [
      "signalbox inbox failures --db signals.db",
      "Which errors are there, since when, and about what?",
    ],
    ["signalbox inbox failures --db signals.db --json | jq -r .error", "Print the errors alone"],
  ]);
  runs(command, context, async (options, { cli: { terminal } }) => {
    await withInbox(options, async (inbox) => {
      const { inboxes, isShared } = inbox;
      const all = inboxes.map(async ({ endpoint, failures: read }) =>
        (await read()).map((failure) => ({ endpoint, ...failure })),
      );
      const failures = (await Promise.all(all)).flat().sort((a, b) => b.count - a.count);
      for (const failure of failures.slice(0, options.limit)) {
        const place = { ...options, endpoint: isShared ? failure.endpoint : undefined };
        if (options.json) terminal.printJson(failure);
        else
          for (const line of linesOf(failure, failures, place, inbox.now, terminal))
            terminal.print(line);
      }
      const others = failures.length - options.limit;
      if (others > 0)
        terminal.note(`there are ${formatCount(others, "other error")}: give a larger --limit`);
      if (failures.length > 0) return;
      terminal.note("no event fails");
      await noteIfEmpty(inbox, terminal);
    });
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
  { error, count, waiting, dead, firstSeen, lastSeen, subjects, subjectCount }: Failure,
  all: readonly Failure[],
  place: EndpointPlace,
  now: number,
  { paint }: Pick<Terminal, "paint">,
): string[] {
  const states = [
    waiting > 0 ? `${formatCount(waiting)} waiting` : "",
    dead > 0 ? `${formatCount(dead)} dead` : "",
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
  while (length < Math.min(characters.length, SHOWN_ERROR) && isShared(beginningOf(length)))
    length += 1;
  const beginning = beginningOf(length);
  // No value of an option is blank or begins with a dash.
  const words = /^\s*(-|$)/.test(beginning) ? `${ANYTHING}${beginning}` : beginning;
  return [
    `${paint.red(formatCount(count).padStart(6))}  ${paint.bold(shortened(error, SHOWN_ERROR))}`,
    `        ${facts.filter((fact) => fact !== "").join("; ")}`,
    `        ${paint.dim(`$ ${inboxCommand(`inbox retry --error ${shellQuote(words)}`, place)}`)}`,
  ];
}
