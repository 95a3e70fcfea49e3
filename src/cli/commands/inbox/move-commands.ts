import { Option, type Command } from "commander";
import type { ReplayOutcome } from "../../../inbox/replay.js";
import type { EventState } from "../../../inbox/store.js";
import { runs, throwIfInterrupted, withExamples, type CommandContext } from "../../options/define-command.js";
import { EXIT, usageError, type ExitCode } from "../../options/exit.js";
import type { Paint } from "../../console/terminal.js";
import { echoed } from "../../console/printable.js";
import { formatTable } from "../../console/table.js";
import { fullId, shortId } from "./event-ids.js";
import {
  addInboxOptions,
  listPages,
  noteOtherEndpoint,
  withInbox,
  type InboxOptions,
  type OpenInbox,
} from "./open-inbox.js";

interface MoveOptions extends InboxOptions {
  allDead?: true;
  state?: "dead" | "quarantined";
  /** Of `discard`. */
  yes?: true;
}

interface Move {
  ids: readonly string[];
  /** The state whose events are meant; `null`: the events that are named. */
  state: EventState | null;
  options: MoveOptions;
  /** What each outcome means for this move. */
  words: Readonly<Record<ReplayOutcome, string>>;
  act: (inbox: OpenInbox, eventIds: readonly string[]) => Promise<ReplayOutcome[]>;
}

const RETRY: Pick<Move, "words" | "act"> = {
  words: {
    moved: "ready again",
    duplicate: "done: it was accepted under its real id already",
    not_found: "not found",
    wrong_state: "not moved: it is ready or in hand already",
    payload_gone: "not moved: its payload is gone",
    still_unusable: "not moved: this release cannot use it either",
  },
  async act({ store, endpoint }, eventIds) {
    // Imported here: the other commands start faster without it.
    const { replayEvents } = await import("../../../inbox/replay.js");
    return replayEvents(store, endpoint, eventIds, Date.now());
  },
};

const DISCARD: Pick<Move, "words" | "act"> = {
  words: {
    moved: "discarded",
    duplicate: "done already",
    not_found: "not found",
    wrong_state: "not discarded: it is neither dead nor quarantined",
    payload_gone: "not discarded: its payload is gone already",
    still_unusable: "not discarded",
  },
  act: ({ store, endpoint }, eventIds) =>
    store.discard(
      eventIds.map((eventId) => ({ endpoint, eventId })),
      Date.now(),
    ),
};

/** `retry` and `discard`. */
export function addMoveCommands(inbox: Command, context: CommandContext): void {
  const retry = addSelectOptions(
    inbox
      .command("retry")
      .description("Hand events off again: dead or done ones, and quarantined ones that this release can use."),
  );
  withExamples(retry, [
    ["signalbox inbox retry sig_885702_10233 --db signals.db", "One event"],
    ["signalbox inbox retry --all-dead --db signals.db", "Everything that was given up, once the cause is fixed"],
    ["signalbox inbox retry --state quarantined --db signals.db", "After an upgrade"],
  ]);
  runs(retry, context, (ids: string[], options: MoveOptions) =>
    moveEvents({ ids, state: selectedState(ids, options), options, ...RETRY }, context),
  );

  const discard = addSelectOptions(
    inbox
      .command("discard")
      .description("Give up dead or quarantined events for good: their payload is dropped, their id stays known."),
  ).option("--yes", "really all of them; goes with --all-dead and --state");
  withExamples(discard, [
    ["signalbox inbox discard sig_885702_10233 --db signals.db", "One event"],
    ["signalbox inbox discard --all-dead --yes --db signals.db", "Everything that was given up"],
  ]);
  runs(discard, context, (ids: string[], options: MoveOptions) => {
    const state = selectedState(ids, options);
    // An option instead of a question, which a script could not answer.
    if (state !== null && !options.yes) throw usageError(`this drops the payload of all that are ${state}: add --yes`);
    return moveEvents({ ids, state, options, ...DISCARD }, context);
  });
}

function addSelectOptions(command: Command): Command {
  return addInboxOptions(command.argument("[id...]", "the events' ids"))
    .addOption(new Option("--all-dead", "all that are dead").conflicts("state"))
    .addOption(new Option("--state <state>", "all in this state").choices(["dead", "quarantined"]));
}

function selectedState(ids: readonly string[], { allDead, state }: MoveOptions): EventState | null {
  const all = allDead ? "dead" : state;
  if (ids.length > 0 && all !== undefined) throw usageError("name ids, or give --all-dead or --state, not both");
  if (ids.length === 0 && all === undefined) throw usageError("name the ids, or give --all-dead or --state <state>");
  return all ?? null;
}

/** Moves the selected events and prints one line for each. The exit code is 1 if one stayed as it was. */
async function moveEvents(move: Move, { cli }: CommandContext): Promise<ExitCode> {
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
