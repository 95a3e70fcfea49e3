import { Option, type Command } from "commander";
import { parseJson } from "../../../events/parse-json.js";
import type { EventState, StoredEvent } from "../../../inbox/store.js";
import { formatMoment } from "../../console/age.js";
import { runs, withExamples, type CommandContext } from "../../options/define-command.js";
import { CliError, EXIT, type ExitCode } from "../../options/exit.js";
import { echoed, printable } from "../../console/printable.js";
import { formatTable } from "../../console/table.js";
import type { Terminal } from "../../console/terminal.js";
import { exportedEvent } from "./exported-event.js";
import { addInboxOptions, withInbox, type InboxOptions } from "./inbox-options.js";
import { paintState } from "./paint-state.js";
import { fullId } from "./short-id.js";

interface ShowOptions extends InboxOptions {
  payload?: true;
  raw?: true;
}

export function addShowCommand(inbox: Command, context: CommandContext): void {
  const command = inbox
    .command("show")
    .description("Show one event: where it stands, its last error, and what was received.")
    .argument("<id>", "the event's id");
  addInboxOptions(command)
    .option("--payload", "print the payload too, indented for reading")
    .addOption(
      new Option("--raw", "print the exact bytes that were received and nothing else").conflicts(["payload", "json"]),
    );
  withExamples(command, [
    ["signalbox inbox show sig_885702_10233 --db signals.db", "Where it stands"],
    ["signalbox inbox show sig_885702_10233 --db signals.db --payload", "What it says"],
    ["signalbox inbox show sig_885702_10233 --db signals.db --raw > event.json", "Its bytes"],
  ]);
  runs(command, context, (id: string, options: ShowOptions) => show(id, options, context));
}

async function show(id: string, options: ShowOptions, { cli: { terminal } }: CommandContext): Promise<ExitCode> {
  const { event, now } = await withInbox(options, async (inbox) => ({
    event: await inbox.store.get(inbox.endpoint, await fullId(inbox, id)),
    now: inbox.now,
  }));
  if (event === undefined) {
    throw new CliError(EXIT.failed, `no event ${echoed(id)} of endpoint "${echoed(options.endpoint)}"`);
  }
  if (options.raw) {
    if (event.rawBody === null) throw new CliError(EXIT.failed, `the payload of ${echoed(id)} is gone`);
    await terminal.write(event.rawBody);
    return EXIT.ok;
  }
  if (options.json) {
    const { bodyBase64, ...rest } = exportedEvent(event);
    terminal.printJson(options.payload ? { ...rest, bodyBase64 } : rest);
    return EXIT.ok;
  }
  for (const line of linesOf(event, now, terminal)) terminal.print(line);
  if (options.payload) terminal.print(`\n${payloadOf(event)}`);
  return EXIT.ok;
}

function linesOf(event: StoredEvent, now: number, { paint }: Terminal): string[] {
  const moment = (at: number): string => `${new Date(at).toISOString()} (${formatMoment(at, now)})`;
  const crashes = event.crashes > 0 ? `, and ${event.crashes} crashes` : "";
  const marks = [event.replayed && "replayed", event.possiblyRepeated && "possibly repeated"].filter(Boolean);
  const size = event.rawBody === null ? "gone" : `${event.rawBody.byteLength} bytes`;
  const rows: (readonly [name: string, text: string, colour?: (text: string) => string])[] = [
    ["id", printable(event.eventId), paint.bold],
    ["type", event.type === "" ? "none" : printable(event.type)],
    ["endpoint", printable(event.endpoint)],
    ["state", event.state, paintState(event.state, paint)],
    [MEANING_OF_DUE[event.state], moment(event.dueAt)],
    ["received", moment(event.received.at)],
    ["attempts", `${event.attempts}${crashes}`],
  ];
  if (marks.length > 0) rows.push(["marks", marks.join(", ")]);
  if (event.lastError !== null) {
    const name = event.state === "quarantined" ? "reason" : "last error";
    rows.push([name, printable(event.lastError), paintState(event.state, paint)]);
  }
  rows.push(["body", `${size}, SHA-256 ${Buffer.from(event.bodyHash).toString("hex")}`]);
  for (const [name, value] of Object.entries(event.received.headers)) rows.push([printable(name), printable(value)]);
  return formatTable(
    rows.map(([name, text, colour]) => [
      { text: name, paint: paint.dim },
      { text, ...(colour && { paint: colour }) },
    ]),
  );
}

const MEANING_OF_DUE: Readonly<Record<EventState, string>> = {
  ready: "due",
  leased: "lease until",
  done: "since",
  dead: "since",
  quarantined: "since",
};

function payloadOf({ rawBody }: StoredEvent): string {
  if (rawBody === null) return "The payload is gone: it was discarded, or retention dropped it.";
  const json = parseJson(rawBody);
  // Line by line: the line ends are ours, everything else is the sender's.
  if (json.ok) return JSON.stringify(json.value, null, 2).split("\n").map(printable).join("\n");
  if (json.reason === "not_utf8") return `No UTF-8 (--raw prints the bytes): ${Buffer.from(rawBody).toString("hex")}`;
  return `No JSON: ${printable(Buffer.from(rawBody).toString("utf8"))}`;
}
