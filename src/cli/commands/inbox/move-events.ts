import { Option, type Command } from "commander";
import type { ReplayOutcome } from "../../../inbox/replay.js";
import type { EventState } from "../../../inbox/store.js";
import { throwIfInterrupted, type CommandContext } from "../../options/define-command.js";
import { EXIT, usageError, type ExitCode } from "../../options/exit.js";
import type { Paint } from "../../console/paint.js";
import { echoed } from "../../console/printable.js";
import { formatTable } from "../../console/table.js";
import { fullId, shortId } from "./event-ids.js";
import { listPages, noteOtherEndpoint, withInbox, type InboxOptions, type OpenInbox } from "./open-inbox.js";

export interface SelectOptions {
  allDead?: true;
  state?: "dead" | "quarantined";
}

export function addSelectOptions(command: Command): Command {
  return command
    .addOption(new Option("--all-dead", "all that are dead").conflicts("state"))
    .addOption(new Option("--state <state>", "all in this state").choices(["dead", "quarantined"]));
}

/** The state whose events are meant; `null`: the events that are named. */
export function checkSelection(ids: readonly string[], { allDead, state }: SelectOptions): EventState | null {
  const all = allDead ? "dead" : state;
  if (ids.length > 0 && all !== undefined) throw usageError("name ids, or give --all-dead or --state, not both");
  if (ids.length === 0 && all === undefined) throw usageError("name the ids, or give --all-dead or --state <state>");
  return all ?? null;
}

export interface Move {
  ids: readonly string[];
  state: EventState | null;
  options: InboxOptions;
  /** What each outcome means for this move. */
  words: Readonly<Record<ReplayOutcome, string>>;
  act: (inbox: OpenInbox, eventIds: readonly string[]) => Promise<ReplayOutcome[]>;
}

/** Moves the selected events and prints one line for each. The exit code is 1 if one stayed as it was. */
export async function moveEvents(move: Move, { cli }: CommandContext): Promise<ExitCode> {
  const { terminal, signal } = cli;
  let moved = 0;
  let stayed = 0;
  await withInbox(move.options, async (inbox) => {
    for await (const ids of selectIds(inbox, move.ids, move.state)) {
      throwIfInterrupted(signal);
      const outcomes = await move.act(inbox, ids);
      const rows = ids.map((id, index) => ({ id, outcome: outcomes[index] ?? "not_found" }));
      for (const { outcome } of rows) {
        // A duplicate is settled: its event was accepted under its real id.
        if (outcome === "moved" || outcome === "duplicate") moved += 1;
        else stayed += 1;
      }
      if (move.options.json) for (const { id, outcome } of rows) terminal.printJson({ eventId: id, outcome });
      else for (const line of tableOf(rows, move.words, terminal.paint)) terminal.print(line);
      terminal.progress(`${moved + stayed} done, ${stayed} stayed`);
    }
    if (moved + stayed === 0) {
      terminal.note(`no event is ${move.state ?? "meant"}`);
      await noteOtherEndpoint(inbox, terminal);
    } else if (moved + stayed > 1) terminal.note(`${moved} moved, ${stayed} stayed as they were`);
  });
  return stayed === 0 ? EXIT.ok : EXIT.failed;
}

function tableOf(
  rows: readonly { id: string; outcome: ReplayOutcome }[],
  words: Move["words"],
  paint: Paint,
): string[] {
  return formatTable(
    rows.map(({ id, outcome }) => [
      { text: outcome === "not_found" ? echoed(id) : shortId(id) },
      { text: words[outcome], paint: outcome === "moved" || outcome === "duplicate" ? paint.green : paint.red },
    ]),
  );
}

async function* selectIds(
  inbox: OpenInbox,
  ids: readonly string[],
  state: EventState | null,
): AsyncGenerator<string[]> {
  if (state === null) yield await Promise.all(ids.map((id) => fullId(inbox, id)));
  else for await (const page of listPages(inbox, { state })) yield page.map(({ eventId }) => eventId);
}
