import { Option, type Command } from "#commander";
import type { EventKey, ReplayOutcome } from "../../kit/inbox/store.js";
import type { EventState, SearchQuery } from "../../kit/inbox/stored-events.js";
import {
  runs,
  withExamples,
  type CommandContext,
  type OptionsOf,
} from "../console/define-command.js";
import { EXIT, usageError, type ExitCode } from "../console/exit.js";
import type { Paint } from "../console/terminal.js";
import { echoed, shortened } from "../console/printable.js";
import { formatTable } from "../console/table.js";
import { findEvent, shortId } from "./event-ids.js";
import {
  BEFORE,
  ERROR,
  PRODUCT,
  SINCE,
  TYPE,
  isFiltered,
  queryOf,
  searchPages,
  type Filters,
} from "./filters.js";
import { addInboxOptions, noteIfEmpty, withInbox, type OpenInbox } from "./open-inbox.js";
import { readAgain } from "./page-of-inbox.js";

interface Move {
  ids: readonly string[];
  /** Move all events that match one of these. `null`: move the events in `ids`. */
  queries: readonly SearchQuery[] | null;
  options: MoveOptions;
  /** The word for a moved event in the totals. */
  moved: "retried" | "discarded";
  /** The text for each outcome that `act` can return. */
  texts: Readonly<Partial<Record<Outcome, string>>>;
  act: (inbox: OpenInbox, events: readonly EventKey[]) => Promise<Outcome[]>;
}

/** `due_now`: it waited, and is due now. */
type Outcome = ReplayOutcome | "due_now";

const MOVED: ReadonlySet<Outcome> = new Set<Outcome>(["moved", "due_now", "duplicate"]);

const RETRY: Pick<Move, "moved" | "texts" | "act"> = {
  moved: "retried",
  texts: {
    moved: "ready again",
    due_now: "due now",
    duplicate:
      "done: this quarantined event was also accepted earlier, under the id inside its payload",
    not_found: "not found",
    wrong_state: "not retried: its callback runs",
    payload_gone: "not retried: its payload was deleted",
    still_unusable: "not retried: this version of signalbox cannot use it",
  },
  async act({ store }, events) {
    const outcomes: Outcome[] = await store.replay(events, await readAgain());
    const waiting = events.filter((_event, index) => outcomes[index] === "wrong_state");
    if (waiting.length === 0) return outcomes;
    const retried = await store.retryNow(waiting);
    return outcomes.map((outcome) => {
      const now = outcome === "wrong_state" ? retried.shift() : undefined;
      return now === "moved" ? "due_now" : outcome;
    });
  },
};

const DISCARD: Pick<Move, "moved" | "texts" | "act"> = {
  moved: "discarded",
  texts: {
    moved: "discarded",
    not_found: "not found",
    wrong_state: "not discarded: it is neither dead nor quarantined",
  },
  act: ({ store }, events) => store.discard(events),
};

/** `retry` and `discard`. */
export function addMoveCommands(parent: Command, context: CommandContext): void {
  const retry = addSelectOptions(
    parent
      .command("retry")
      .description(
        "Hand dead or done events off again, quarantined ones that this version can use, and waiting ones now. A filter without " +
          "--state chooses among the dead and the waiting ones.",
      ),
  )
    .addOption(TYPE)
    .addOption(PRODUCT)
    .addOption(ERROR)
    .addOption(SINCE)
    .addOption(BEFORE);
  withExamples(retry, [
    ["signalbox inbox retry sig_885702_10233 --db signals.db", "Retry one event"],
    [
      "signalbox inbox retry --all-dead --db signals.db",
      "Retry all dead events after the cause is fixed",
    ],
    [
      'signalbox inbox retry --error "connect ECONNREFUSED" --db signals.db',
      "Retry what failed so, and what waits for it",
    ],
    [
      "signalbox inbox retry --product acme --since 2h --db signals.db",
      "Retry what came about a product in two hours",
    ],
    [
      "signalbox inbox retry --state quarantined --db signals.db",
      "Retry quarantined events after an upgrade",
    ],
  ]);
  runs(retry, context, (ids, options) =>
    moveEvents({ ids, queries: selectedQueries(ids, options), options, ...RETRY }, context),
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
    const queries = selectedQueries(ids, options);
    // Confirmed by an option and not by a question, because a script could not answer a question.
    const [{ state } = {}] = queries ?? [];
    if (state !== undefined && !options.yes)
      throw usageError(`this deletes the payload of all ${state} events: add --yes`);
    return moveEvents({ ids, queries, options, ...DISCARD }, context);
  });
}

function addSelectOptions(command: Command) {
  return addInboxOptions(command)
    .argument("[id...]", "the events' ids")
    .addOption(new Option("--all-dead", "all dead events").conflicts("state"))
    .addOption(
      new Option("--state <state>", "all events in this state").choices(["dead", "quarantined"]),
    );
}

type MoveOptions = OptionsOf<typeof addSelectOptions> & Filters;

function selectedQueries(
  ids: readonly string[],
  options: MoveOptions,
): readonly SearchQuery[] | null {
  const state: EventState | undefined = options.allDead ? "dead" : options.state;
  const isChosen = state !== undefined || isFiltered(options);
  if (ids.length > 0 && isChosen)
    throw usageError("give either ids, or --all-dead, --state and filters, not both");
  if (ids.length > 0) return null;
  if (!isChosen)
    throw usageError("give ids, --all-dead, --state <state>, or a filter such as --error <text>");
  // The waiting ones first: what was dead waits then too.
  const states: readonly EventState[] = state === undefined ? ["ready", "dead"] : [state];
  return states.map((each) => ({ ...queryOf(options), state: each }));
}

/**
 * Moves the selected events and prints a line for each. The exit code is 1 if an event was not
 * moved.
 */
async function moveEvents(move: Move, { cli }: CommandContext): Promise<ExitCode> {
  const { terminal, signal } = cli;
  let moved = 0;
  let stayed = 0;
  const touched = new Set<string>();
  const totals = (): string => `${moved} ${move.moved}, ${stayed} not ${move.moved}`;
  await withInbox(move.options, async (inbox) => {
    for await (const events of selectEvents(inbox, move.ids, move.queries)) {
      signal.throwIfAborted();
      const outcomes = await move.act(inbox, events);
      const rows = events.map((event, index) => ({
        ...event,
        outcome: outcomes[index] ?? "not_found",
      }));
      for (const { outcome, endpoint } of rows) {
        // A duplicate counts as moved, because the retry has set it to done.
        if (MOVED.has(outcome)) moved += 1;
        else stayed += 1;
        if (MOVED.has(outcome)) touched.add(endpoint);
      }
      if (move.options.json)
        for (const { endpoint, eventId, outcome } of rows)
          terminal.printJson({ endpoint, eventId, outcome });
      else
        for (const line of tableOf(rows, inbox, move.texts, terminal.paint)) terminal.print(line);
      terminal.progress(totals());
    }
    for (const endpoint of move.moved === "retried" ? touched : []) {
      if ((await inbox.store.hasReceiver(endpoint)) !== false) continue;
      const what = inbox.isShared ? echoed(endpoint) : "this inbox";
      terminal.note(`no receiver has ${what} open; the events are handed off when one starts`);
    }
    if (moved + stayed === 0) {
      const [{ state } = {}, ...others] = move.queries ?? [];
      terminal.note(
        others.length > 0
          ? "no event that is dead or waits matches: it may have been handed off by now; `inbox failures` says what fails"
          : `no event is ${state ?? "selected"}`,
      );
      await noteIfEmpty(inbox, terminal);
    }
  });
  // To find nothing dead is as expected, but a filter that finds nothing may be misspelt.
  const isOk = stayed === 0 && (moved > 0 || !isFiltered(move.options));
  if (move.options.json)
    terminal.printJson({ summary: { ok: isOk, [move.moved]: moved, failed: stayed } });
  else if (moved + stayed !== 1)
    terminal.print((isOk ? terminal.paint.green : terminal.paint.red)(totals()));
  return isOk ? EXIT.ok : EXIT.failed;
}

function tableOf(
  rows: readonly (EventKey & { outcome: Outcome })[],
  { endpoints }: OpenInbox,
  texts: Move["texts"],
  paint: Paint,
): string[] {
  return formatTable(
    rows.map(({ endpoint, eventId, outcome }) => [
      ...(endpoints.length > 1 ? [outcome === "not_found" ? "" : shortened(endpoint, 24)] : []),
      outcome === "not_found" ? echoed(eventId) : shortId(eventId),
      (MOVED.has(outcome) ? paint.green : paint.red)(texts[outcome] ?? outcome),
    ]),
  );
}

async function* selectEvents(
  inbox: OpenInbox,
  ids: readonly string[],
  queries: readonly SearchQuery[] | null,
): AsyncGenerator<EventKey[]> {
  if (queries === null) {
    const [endpoint = ""] = inbox.endpoints;
    yield await Promise.all(
      ids.map(async (eventId) => (await findEvent(inbox, eventId)) ?? { endpoint, eventId }),
    );
  }
  for (const query of queries ?? []) {
    for await (const page of searchPages(inbox, query))
      yield page.map(({ endpoint, eventId }) => ({ endpoint, eventId }));
  }
}
