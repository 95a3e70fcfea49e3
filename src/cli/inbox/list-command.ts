import { Option, type Command } from "#commander";
import { EVENT_STATES, type InboxEntry } from "../../kit/inbox/stored-events.js";
import { type CommandContext, runs, withExamples } from "../console/define-command.js";
import { wholeNumber } from "../console/parse-option.js";
import { listLines } from "./event-fields.js";
import { addFilters, isFiltered, queryOf, searchPages } from "./filters.js";
import { addInboxOptions, noteIfEmpty, withInbox } from "./open-inbox.js";

export function addListCommand(parent: Command, context: CommandContext): void {
  const command = addFilters(
    addInboxOptions(parent.command("ls").description("List events, newest first.")).addOption(
      new Option("--state <state>", "only events in this state").choices(EVENT_STATES),
    ),
  )
    .option("--limit <n>", "the maximum number of events", wholeNumber(1, 100_000), 50)
    .option("--after <seq>", "the next page; the last one says its number", wholeNumber(1));
  withExamples(command, [
    ["signalbox inbox ls --db signals.db", "List the 50 newest events"],
    [
      "signalbox inbox ls --db signals.db --state dead --json | jq -r .eventId",
      "Print the ids of the dead events",
    ],
    [
      "signalbox inbox ls --db signals.db --product acme --since 2h",
      "List what came about a product in two hours",
    ],
    [
      'signalbox inbox ls --db signals.db --error "connect ECONNREFUSED"',
      "List the events that failed so",
    ],
  ]);
  runs(command, context, async (options, { cli: { terminal, signal } }) => {
    const { state, limit, after, json } = options;
    await withInbox(options, async (inbox) => {
      const found: InboxEntry[] = [];
      for await (const entries of searchPages(inbox, {
        ...queryOf(options),
        state,
        beforeSeq: after,
      })) {
        signal.throwIfAborted();
        found.push(...entries);
        // One event more than the limit tells that there is another page.
        if (found.length > limit) break;
      }
      const page = found.slice(0, limit);
      if (json) for (const entry of page) terminal.printJson(entry);
      else if (page.length > 0)
        for (const line of listLines(page, inbox, terminal)) terminal.print(line);
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
  });
}
