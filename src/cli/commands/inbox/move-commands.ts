import { Option, type Command } from "#commander";
import type { ReplayOutcome } from "../../../inbox/store.js";
import type { EventState } from "../../../inbox/stored-events.js";
import { runs, withExamples, type CommandContext, type OptionsOf } from "../../options/define-command.js";
import { EXIT, usageError, type ExitCode } from "../../options/exit.js";
import type { Paint } from "../../console/terminal.js";
import { echoed } from "../../console/printable.js";
import { formatTable } from "../../console/table.js";
import { fullId, shortId } from "../../inbox/event-ids.js";
import { addInboxOptions, listPages, noteOtherEndpoint, withInbox, type OpenInbox } from "../../inbox/open-inbox.js";

interface Move {
  ids: readonly string[];
  /** Move all events in this state. `null`: move the events in `ids`. */
  state: EventState | null;
  options: MoveOptions;
  /** The word for a moved event in the totals. */
  moved: "retried" | "discarded";
  /** The text for each outcome that `act` can return. */
  texts: Readonly<Partial<Record<ReplayOutcome, string>>>;
  act: (inbox: OpenInbox, eventIds: readonly string[]) => Promise<ReplayOutcome[]>;
}

const RETRY: Pick<Move, "moved" | "texts" | "act"> = {
  moved: "retried",
  texts: {
    moved: "ready again",
    duplicate: "done: this quarantined event was also accepted earlier, under the id inside its payload",
    not_found: "not found",
    wrong_state: "not retried: it is ready or leased already",
    payload_gone: "not retried: its payload was deleted",
    still_unusable: "not retried: this version of signalbox cannot use it",
  },
  async act({ store, endpoint }, eventIds) {
    const { replayEvents } = await import("../../../inbox/replay.js");
    const { readAgainBy } = await import("../../../receiver/read-stored.js");
    const { builtInSender } = await import("../../../senders/built-in.js");
    return replayEvents(store, endpoint, eventIds, readAgainBy(builtInSender));
  },
};

const DISCARD: Pick<Move, "moved" | "texts" | "act"> = {
  moved: "discarded",
  texts: {
    moved: "discarded",
    not_found: "not found",
    wrong_state: "not discarded: it is neither dead nor quarantined",
  },
  act: ({ store, endpoint }, eventIds) => store.discard(eventIds.map((eventId) => ({ endpoint, eventId }))),
};

/** `retry` and `discard`. */
export function addMoveCommands(parent: Command, context: CommandContext): void {
  const retry = addSelectOptions(
    parent
      .command("retry")
      .description("Hand dead or done events off again, and quarantined events that this version can use."),
  );
  withExamples(retry, [
    ["signalbox inbox retry sig_885702_10233 --db signals.db", "Retry one event"],
    ["signalbox inbox retry --all-dead --db signals.db", "Retry all dead events after the cause is fixed"],
    ["signalbox inbox retry --state quarantined --db signals.db", "Retry quarantined events after an upgrade"],
  ]);
  runs(retry, context, (ids, options) =>
    moveEvents({ ids, state: selectedState(ids, options), options, ...RETRY }, context),
  );

  const discard = addSelectOptions(
    parent
      .command("discard")
      .description(
        "Give up dead or quarantined events. Their payload is deleted; their ids stay known, so they are not accepted again.",
      ),
  ).option("--yes", "required with --all-dead and --state");
  withExamples(discard, [
    ["signalbox inbox discard sig_885702_10233 --db signals.db", "Discard one event"],
    ["signalbox inbox discard --all-dead --yes --db signals.db", "Discard all dead events"],
  ]);
  runs(discard, context, (ids, options) => {
    const state = selectedState(ids, options);
    // Confirmed by an option and not by a question, because a script could not answer a question.
    if (state !== null && !options.yes) throw usageError(`this deletes the payload of all ${state} events: add --yes`);
    return moveEvents({ ids, state, options, ...DISCARD }, context);
  });
}

function addSelectOptions(command: Command) {
  return addInboxOptions(command)
    .argument("[id...]", "the events' ids")
    .addOption(new Option("--all-dead", "all dead events").conflicts("state"))
    .addOption(new Option("--state <state>", "all events in this state").choices(["dead", "quarantined"]));
}

type MoveOptions = OptionsOf<typeof addSelectOptions>;

function selectedState(ids: readonly string[], { allDead, state }: MoveOptions): EventState | null {
  const all = allDead ? "dead" : state;
  if (ids.length > 0 && all !== undefined) throw usageError("give either ids or --all-dead or --state, not both");
  if (ids.length === 0 && all === undefined) throw usageError("give ids, --all-dead or --state <state>");
  return all ?? null;
}

/** Moves the selected events and prints a line for each. The exit code is 1 if an event was not moved. */
async function moveEvents(move: Move, { cli }: CommandContext): Promise<ExitCode> {
  const { terminal, signal } = cli;
  let moved = 0;
  let stayed = 0;
  const totals = (): string => `${moved} ${move.moved}, ${stayed} not ${move.moved}`;
  await withInbox(move.options, async (inbox) => {
    for await (const ids of selectIds(inbox, move.ids, move.state)) {
      signal.throwIfAborted();
      const outcomes = await move.act(inbox, ids);
      const rows = ids.map((id, index) => ({ id, outcome: outcomes[index] ?? "not_found" }));
      for (const { outcome } of rows) {
        // A duplicate counts as moved, because the retry has set it to done.
        if (outcome === "moved" || outcome === "duplicate") moved += 1;
        else stayed += 1;
      }
      if (move.options.json) for (const { id, outcome } of rows) terminal.printJson({ eventId: id, outcome });
      else for (const line of tableOf(rows, move.texts, terminal.paint)) terminal.print(line);
      terminal.progress(totals());
    }
    if (moved + stayed === 0) {
      terminal.note(`no event is ${move.state ?? "selected"}`);
      await noteOtherEndpoint(inbox, terminal);
    }
  });
  if (move.options.json) terminal.printJson({ summary: { ok: stayed === 0, [move.moved]: moved, failed: stayed } });
  else if (moved + stayed !== 1) terminal.print((stayed === 0 ? terminal.paint.green : terminal.paint.red)(totals()));
  return stayed === 0 ? EXIT.ok : EXIT.failed;
}

function tableOf(
  rows: readonly { id: string; outcome: ReplayOutcome }[],
  texts: Move["texts"],
  paint: Paint,
): string[] {
  return formatTable(
    rows.map(({ id, outcome }) => [
      outcome === "not_found" ? echoed(id) : shortId(id),
      (outcome === "moved" || outcome === "duplicate" ? paint.green : paint.red)(texts[outcome] ?? outcome),
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
