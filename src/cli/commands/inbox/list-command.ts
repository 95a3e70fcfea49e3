import { Option, type Command } from "#commander";
import { EVENT_STATES, type InboxEntry } from "../../../inbox/stored-events.js";
import { type CommandContext, runs, withExamples } from "../../options/define-command.js";
import { notEmpty, wholeNumber } from "../../options/parse-option.js";
import { echoed } from "../../console/printable.js";
import { listLines } from "./event-fields.js";
import { addInboxOptions, listPages, noteOtherEndpoint, withInbox } from "../../inbox/open-inbox.js";

export function addListCommand(parent: Command, context: CommandContext): void {
  const command = addInboxOptions(parent.command("ls").description("List events, oldest first."))
    .addOption(new Option("--state <state>", "only events in this state").choices(EVENT_STATES))
    .option(
      "--type <type>",
      "only events of this type, such as signal.published, or of this subtype, such as price_increased",
      notEmpty,
    )
    .option("--limit <n>", "the maximum number of events", wholeNumber(1, 100_000), 50)
    .option("--after <seq>", "the next page; the last one says its number", wholeNumber(0));
  withExamples(command, [
    ["signalbox inbox ls --db signals.db", "List the 50 oldest events"],
    ["signalbox inbox ls --db signals.db --state dead --json | jq -r .eventId", "Print the ids of the dead events"],
  ]);
  runs(command, context, async (options, { cli: { terminal, signal } }) => {
    const { state, type, limit, after, json } = options;
    await withInbox(options, async (inbox) => {
      // As on the inbox page: without a dot it may be a subtype, as the type of a signal is.
      const either = type?.includes(".") ? undefined : type;
      const found: InboxEntry[] = [];
      for await (const entries of listPages(inbox, { state, type: either ? undefined : type, afterSeq: after })) {
        signal.throwIfAborted();
        found.push(
          ...entries.filter((entry) => either === undefined || entry.type === either || entry.subtype === either),
        );
        // One event more than the limit tells that there is another page.
        if (found.length > limit) break;
      }
      const page = found.slice(0, limit);
      if (json) for (const entry of page) terminal.printJson(entry);
      else if (page.length > 0) for (const line of listLines(page, inbox.now, terminal.paint)) terminal.print(line);
      if (found.length > limit)
        terminal.note(`there are more events; for the next page add --after ${page.at(-1)?.seq ?? 0}`);
      if (page.length > 0 || after !== undefined) return;
      const ofType = type === undefined ? "" : ` of type ${echoed(type)}`;
      if (state ?? type) terminal.note(`no event${ofType} is ${state ?? "in the inbox"}`);
      await noteOtherEndpoint(inbox, terminal);
    });
  });
}
