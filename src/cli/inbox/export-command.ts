import { Option, type Command } from "#commander";
import { exportedEvent } from "../../kit/inbox/exported-event.js";
import { EVENT_STATES } from "../../kit/inbox/stored-events.js";
import { runs, withExamples, type CommandContext } from "../console/define-command.js";
import { printable } from "../console/printable.js";
import { addInboxOptions, noteIfEmpty, withInbox } from "./open-inbox.js";

/** An inbox can be larger than memory. */
const PAGE = 500;
/** A database is not waited for after each event. */
const READ_AT_ONCE = 20;

export function addExportCommand(parent: Command, context: CommandContext): void {
  const command = addInboxOptions(
    parent
      .command("export")
      .description("Print all events as NDJSON, with headers and payload (base64)."),
  ).addOption(new Option("--state <state>", "only events in this state").choices(EVENT_STATES));
  withExamples(command, [
    ["signalbox inbox export --db signals.db > events.ndjson", "Export all events"],
    [
      "signalbox inbox export --db signals.db --state dead | jq -r '.bodyBase64 | @base64d'",
      "Print the payloads of dead events",
    ],
  ]);
  runs(command, context, async ({ state, ...options }, { cli }) => {
    const { terminal, signal } = cli;
    await withInbox(options, async (inbox) => {
      let count = 0;
      for (const { get, list } of inbox.inboxes) {
        for (let page = await list({ state, limit: PAGE }); page.length > 0;) {
          for (let from = 0; from < page.length; from += READ_AT_ONCE) {
            signal.throwIfAborted();
            if (terminal.isClosed) return;
            const group = page.slice(from, from + READ_AT_ONCE);
            const read = await Promise.all(group.map(({ eventId }) => get(eventId)));
            // Retention may have deleted an event after the page was read.
            const events = read.filter((event) => event !== undefined);
            const lines = events.map(
              (event) => `${printable(JSON.stringify(exportedEvent(event)))}\n`,
            );
            await terminal.write(lines.join(""));
            count += events.length;
          }
          terminal.progress(`${count} events`);
          page = await list({ state, afterSeq: page.at(-1)?.seq, limit: PAGE });
        }
      }
      await noteIfEmpty(inbox, terminal);
    });
  });
}
