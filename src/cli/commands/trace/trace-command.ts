import type { Command } from "#commander";
import { buildTimeline } from "../../../pages/timeline/build-timeline.js";
import { echoed } from "../../console/printable.js";
import { schemaOption } from "../../options/database.js";
import { runs, withExamples, type CommandContext } from "../../options/define-command.js";
import { CliError, EXIT, usageError, type ExitCode } from "../../options/exit.js";
import { httpUrl, notEmpty } from "../../options/parse-option.js";
import { DEFAULT_INBOX } from "../dev/dev-command.js";
import { readInbox, readSender, type InboxOfTrace } from "./read-sides.js";
import { traceLines } from "./trace-lines.js";

interface TraceOptions extends InboxOfTrace {
  url?: URL;
  json?: true;
}

export function addTraceCommand(program: Command, context: CommandContext): void {
  const command = program
    .command("trace")
    .description(
      "Show the timeline of an event: every attempt of the emulator that sent it, and what the receiver's inbox did with it. One of the two is enough.",
    )
    .argument("<id>", "the event's id")
    .option("--url <url>", "the emulator's address; or set SIGNALS_BASE_URL (default: http://127.0.0.1:4010)", httpUrl)
    .option(
      "--db <inbox>",
      `the inbox: its SQLite file, or the URL of its PostgreSQL database (default: ${DEFAULT_INBOX} if it is here)`,
      notEmpty,
    )
    .addOption(schemaOption())
    .option("--endpoint <name>", "the receiver's endpoint", notEmpty, "default")
    .option("--json", "print NDJSON");
  withExamples(command, [
    ["signalbox trace sig_885702_10233", `Show an event of the emulator on this machine and of ${DEFAULT_INBOX}`],
    ["signalbox trace sig_885702_10233 --db postgres://app@db/app", "Use an inbox in PostgreSQL"],
    ["signalbox trace sig_885702_10233 --url http://127.0.0.1:4020", "Use an emulator at another address"],
  ]);
  runs(command, context, (id: string, options: TraceOptions) => trace(id, options, context));
}

async function trace(id: string, { url, json, ...place }: TraceOptions, { cli }: CommandContext): Promise<ExitCode> {
  const { terminal } = cli;
  const inbox = await readInbox(id, place, cli);
  const sender = await readSender(inbox?.event?.eventId ?? id, url, cli);
  if (inbox === null && sender === null) throw usageError("there is nowhere to look: give --db, or --url");
  const now = Date.now();
  const { steps, notes } = buildTimeline({ now, sender, inbox });
  if (steps.length === 0) throw new CliError(EXIT.failed, `no side that was asked knows the event ${echoed(id)}`);
  if (json) for (const step of steps) terminal.printJson(step);
  else for (const line of traceLines(steps, now, terminal.paint)) terminal.print(line);
  for (const note of notes) terminal.note(note);
  return EXIT.ok;
}
