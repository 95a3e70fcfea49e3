import { Option, type Command } from "#commander";
import { EVENT_STATES, type EventState } from "../../../inbox/stored-events.js";
import { runs, withExamples, type CommandContext } from "../../options/define-command.js";
import { EXIT, type ExitCode } from "../../options/exit.js";
import { notEmpty, wholeNumber } from "../../options/parse-option.js";
import { echoed } from "../../console/printable.js";
import { listLines } from "./event-fields.js";
import { addInboxOptions, noteOtherEndpoint, withInbox, type InboxOptions } from "./open-inbox.js";

interface ListOptions extends InboxOptions {
  state?: EventState;
  type?: string;
  limit: number;
  after?: number;
}

export function addListCommand(inbox: Command, context: CommandContext): void {
  const command = inbox.command("ls").description("List events, oldest first.");
  addInboxOptions(command)
    .addOption(new Option("--state <state>", "only events in this state").choices(EVENT_STATES))
    .option("--type <type>", "only events of this type, such as signal.published", notEmpty)
    .option("--limit <n>", "the maximum number of events", wholeNumber(1, 100_000), 50)
    .option("--after <seq>", "the next page; the last one says its number", wholeNumber(0));
  withExamples(command, [
    ["signalbox inbox ls --db signals.db", "List the 50 oldest events"],
    ["signalbox inbox ls --db signals.db --state dead --json | jq -r .eventId", "Print the ids of the dead events"],
  ]);
  runs(command, context, (options: ListOptions) => list(options, context));
}

async function list(options: ListOptions, { cli: { terminal } }: CommandContext): Promise<ExitCode> {
  const { endpoint, state, type, limit, after, json } = options;
  await withInbox(options, async (inbox) => {
    const query = { endpoint, ...(state && { state }), ...(type !== undefined && { type }) };
    // Reads one event more than the limit, to find out whether there is another page.
    const found = await inbox.store.list({ ...query, afterSeq: after ?? 0, limit: limit + 1 });
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
  return EXIT.ok;
}
