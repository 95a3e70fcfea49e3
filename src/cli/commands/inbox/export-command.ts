import { Option, type Command } from "commander";
import { EVENT_STATES, type EventState } from "../../../inbox/store.js";
import { runs, throwIfInterrupted, withExamples, type CommandContext } from "../../options/define-command.js";
import { EXIT, type ExitCode } from "../../options/exit.js";
import { printable } from "../../console/printable.js";
import { exportedEvent } from "./event-fields.js";
import { addInboxOptions, listPages, noteOtherEndpoint, withInbox, type InboxOptions } from "./open-inbox.js";

interface ExportOptions extends InboxOptions {
  state?: EventState;
}

export function addExportCommand(inbox: Command, context: CommandContext): void {
  const command = inbox.command("export").description("Print all events as NDJSON, with headers and payload (base64).");
  addInboxOptions(command).addOption(new Option("--state <state>", "only events in this state").choices(EVENT_STATES));
  withExamples(command, [
    ["signalbox inbox export --db signals.db > events.ndjson", "Export all events"],
    [
      "signalbox inbox export --db signals.db --state dead | jq -r '.bodyBase64 | @base64d'",
      "Print the payloads of dead events",
    ],
  ]);
  runs(command, context, (options: ExportOptions) => exportEvents(options, context));
}

async function exportEvents(options: ExportOptions, { cli }: CommandContext): Promise<ExitCode> {
  const { terminal, signal } = cli;
  await withInbox(options, async (inbox) => {
    let count = 0;
    for await (const page of listPages(inbox, options)) {
      for (const { eventId } of page) {
        throwIfInterrupted(signal);
        if (terminal.isClosed) return;
        const event = await inbox.store.get(inbox.endpoint, eventId);
        // Retention may have deleted the event after the page was read.
        if (event === undefined) continue;
        await terminal.write(`${printable(JSON.stringify(exportedEvent(event)))}\n`);
        count += 1;
      }
      terminal.progress(`${count} events`);
    }
    if (count === 0) await noteOtherEndpoint(inbox, terminal);
  });
  return EXIT.ok;
}
