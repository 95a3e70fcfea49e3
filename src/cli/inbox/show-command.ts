import { Option, type Command } from "#commander";
import { exportedEvent } from "../../kit/inbox/exported-event.js";
import { runs, withExamples, type CommandContext } from "../console/define-command.js";
import { CliError, EXIT } from "../console/exit.js";
import { echoed } from "../console/printable.js";
import { payloadText, showLines } from "./event-fields.js";
import { findEvent } from "./event-ids.js";
import { noteRefusals } from "./refusal-lines.js";
import { addInboxOptions, withInbox } from "./open-inbox.js";

export function addShowCommand(parent: Command, context: CommandContext): void {
  const command = addInboxOptions(
    parent
      .command("show")
      .description("Show an event: its state, its last error, and its delivery."),
  )
    .argument("<id>", "the event's id")
    .option("--payload", "also print the payload, indented")
    .addOption(
      new Option("--raw", "print only the payload, byte for byte").conflicts(["payload", "json"]),
    );
  withExamples(command, [
    ["signalbox inbox show sig_885702_10233 --db signals.db", "Show the state of an event"],
    [
      "signalbox inbox show sig_885702_10233 --db signals.db --payload",
      "Show an event with its payload",
    ],
    [
      "signalbox inbox show sig_885702_10233 --db signals.db --raw > event.json",
      "Save the payload of an event",
    ],
  ]);
  runs(command, context, async (id, options, { cli: { terminal } }) => {
    const { event, now } = await withInbox(options, async (inbox) => {
      const found = await findEvent(inbox, id);
      if (found === undefined) await noteRefusals(inbox, id, terminal);
      return { event: found, now: inbox.now };
    });
    if (event === undefined) {
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
    for (const line of showLines(event, now, terminal.paint)) terminal.print(line);
    // Not broken at the edge of a terminal, because a line end inside a string is not JSON.
    if (options.payload) await terminal.write(`\n${payloadText(event)}\n`);
  });
}
