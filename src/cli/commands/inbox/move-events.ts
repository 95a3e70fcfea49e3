import type { ReplayOutcome } from "../../../inbox/replay.js";
import type { EventState } from "../../../inbox/store.js";
import { throwIfInterrupted, type CommandContext } from "../../options/define-command.js";
import { EXIT, type ExitCode } from "../../options/exit.js";
import { echoed } from "../../console/printable.js";
import { formatTable } from "../../console/table.js";
import { noteOtherEndpoint, withInbox, type InboxOptions, type OpenInbox } from "./inbox-options.js";
import { selectIds } from "./select-events.js";
import { shortId } from "./short-id.js";

export interface Move {
  ids: readonly string[];
  state: EventState | null;
  options: InboxOptions;
  /** What each outcome means for this move. */
  words: Readonly<Record<ReplayOutcome, string>>;
  act: (inbox: OpenInbox, eventIds: readonly string[]) => Promise<ReplayOutcome[]>;
}

/** Moves the selected events and prints one line for each; what stayed where it was makes it a failure. */
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
  paint: CommandContext["cli"]["terminal"]["paint"],
): string[] {
  return formatTable(
    rows.map(({ id, outcome }) => [
      { text: outcome === "not_found" ? echoed(id) : shortId(id) },
      { text: words[outcome], paint: outcome === "moved" || outcome === "duplicate" ? paint.green : paint.red },
    ]),
  );
}
