import { Option, type Command } from "#commander";
import { formatCount } from "../../base/text/format.js";
import type { RetryOutcome } from "../../kit/inbox/open-inbox.js";
import { describeSituation } from "../../kit/inbox/situation/situation.js";
import type { EventKey } from "../../kit/inbox/store.js";
import type { EventState, InboxEntry, SearchQuery } from "../../kit/inbox/stored-events.js";
import { isIgnored, NO_HANDLER } from "../../kit/inbox/done-reasons.js";
import { runs, type CommandContext, type OptionsOf } from "../console/define-command.js";
import { EXIT, usageError, type ExitCode } from "../console/exit.js";
import { type Paint, echoed, shortened, formatTable } from "../console/terminal.js";
import {
  defineInboxCommand,
  noteIfEmpty,
  placeOf,
  withInbox,
  type CommandInbox,
} from "./open-inbox.js";
import {
  findEvent,
  shortId,
  addFilters,
  isFiltered,
  queryOf,
  searchPages,
  type Filters,
} from "./select-events.js";

interface Move {
  how: "retry" | "discard";
  /** The word for a moved event in the totals. */
  moved: string;
  /** The states from which it moves an event. */
  from: readonly EventState[];
  /** The text for each outcome that it can have. */
  texts: Readonly<Partial<Record<RetryOutcome, string>>>;
}

/** A duplicate counts as moved, because the retry has set it to done. */
const MOVED: ReadonlySet<RetryOutcome> = new Set<RetryOutcome>(["moved", "due_now", "duplicate"]);

const RETRY: Move = {
  how: "retry",
  moved: "retried",
  from: ["ready", "dead", "done", "quarantined"],
  texts: {
    moved: "ready again",
    due_now: "due now",
    duplicate:
      "done: this quarantined event was also accepted earlier, under the id inside its payload",
    not_found: "not found",
    wrong_state: "not retried: its callback runs, or it waits behind another event",
    payload_gone: "not retried: its payload was deleted",
    still_unusable: "not retried: this version of signalbox cannot use it",
  },
};

const DISCARD: Move = {
  how: "discard",
  moved: "discarded",
  from: ["done", "dead", "quarantined"],
  texts: {
    moved: "discarded",
    not_found: "not found",
    wrong_state: "not discarded: it waits, or its callback runs",
  },
};

/** `retry`, `discard` and `unblock`. */
export function addMoveCommands(parent: Command, context: CommandContext): void {
  const retry = addFilters(
    defineMove(
      parent,
      "retry",
      "Hand events off again: dead or done ones, quarantined ones that this version can use, and waiting ones now. A filter without " +
        "--state chooses among the dead and the waiting ones. --state ignored: those that no function of onEvent took.",
      ["ignored"],
    ),
  );
  runs(retry, context, (ids, options) =>
    moveEvents(RETRY, ids, selectedQueries(ids, options), options, context),
  );

  const discard = defineMove(
    parent,
    "discard",
    "Give up dead or quarantined events, or delete the payload of done ones. Their ids stay known, so they are not accepted again.",
  ).option("--yes", "required with --all-dead and --state");
  runs(discard, context, (ids, options) => {
    const queries = selectedQueries(ids, options);
    return moveEvents(DISCARD, ids, queries, options, context);
  });

  const unblock = defineInboxCommand(
    parent,
    "unblock",
    "Let the events go on that wait behind a dead one with the same key of the option order. The dead one stays dead.",
  ).argument("<key>", "the key, as order.by returns it; with tenants, <tenant>/<key>");
  runs(unblock, context, async (key, options) => {
    const { terminal } = context.cli;
    const found: boolean[] = [];
    await withInbox(placeOf(options, context.cli), async ({ inboxes }) => {
      for (const inbox of inboxes) found.push(await inbox.unblock(key));
    });
    const isOk = found.includes(true);
    if (options.json) terminal.printJson({ summary: { ok: isOk } });
    else
      terminal.print(
        isOk ? "unblocked" : "no dead event holds this key; it is what order.by returns, not an id",
      );
    return isOk ? EXIT.ok : EXIT.failed;
  });
}

function defineMove(
  parent: Command,
  name: string,
  description: string,
  more: readonly "ignored"[] = [],
) {
  return defineInboxCommand(parent, name, description)
    .argument("[id...]", "the events' ids")
    .addOption(new Option("--all-dead", "all dead events").conflicts("state"))
    .addOption(
      new Option("--state <state>", "all events in this state").choices([
        "dead",
        "quarantined",
        ...more,
      ] as const),
    )
    .option("--dry-run", "print what it would do, and do nothing");
}

type MoveOptions = OptionsOf<typeof defineMove> & Filters & { yes?: true };

function selectedQueries(
  ids: readonly string[],
  options: MoveOptions,
): readonly SearchQuery[] | null {
  const state = options.allDead ? "dead" : options.state;
  const isChosen = state !== undefined || isFiltered(options);
  if (ids.length > 0 && isChosen)
    throw usageError("give either ids, or --all-dead, --state and filters, not both");
  if (ids.length > 0) return null;
  if (!isChosen)
    throw usageError("give ids, --all-dead, --state <state>, or a filter such as --error <text>");
  if (state === "ignored" && options.error !== undefined)
    throw usageError("an event that was ignored has no error: leave --error out");
  if (state === "ignored") return [{ ...queryOf(options), error: NO_HANDLER, state: "done" }];
  // The waiting ones first: what was dead waits then too.
  const states: readonly EventState[] = state === undefined ? ["ready", "dead"] : [state];
  return states.map((each) => ({ ...queryOf(options), state: each }));
}

/**
 * Moves the selected events and prints a line for each. The exit code is 1 if an event was not
 * moved.
 *
 * @param queries all events that match one of these; null: those of `ids`
 */
async function moveEvents(
  { how, moved: done, from, texts }: Move,
  ids: readonly string[],
  queries: readonly SearchQuery[] | null,
  options: MoveOptions,
  { cli }: CommandContext,
): Promise<ExitCode> {
  const { json, dryRun } = options;
  const { terminal, signal } = cli;
  // Confirmed by an option and not by a question, because a script could not answer a question.
  const isAsking = how === "discard" && queries !== null && !options.yes && !dryRun;
  const isDry = isAsking || dryRun;
  const dry = isDry && { dryRun: true };
  const shown = isDry ? { ...texts, moved: `would be ${done}` } : texts;
  let moved = 0;
  let stayed = 0;
  const touched = new Set<string>();
  const bySender = new Map<string, number>();
  let totals = `0 ${done}, 0 not ${done}`;
  await withInbox(placeOf(options, cli), async (inbox) => {
    for await (const events of selectEvents(inbox, ids, queries)) {
      signal.throwIfAborted();
      const outcomes = isDry
        ? events.map(({ state }): RetryOutcome => {
            if (state === undefined) return "not_found";
            return from.includes(state) ? "moved" : "wrong_state";
          })
        : await inbox.move(how, events.map(inbox.keyOf));
      const rows = events.map(({ endpoint, eventId, sender = "" }, index) => {
        const outcome = outcomes[index] ?? "not_found";
        if (!MOVED.has(outcome)) stayed += 1;
        else {
          moved += 1;
          touched.add(endpoint);
          bySender.set(sender, (bySender.get(sender) ?? 0) + 1);
        }
        return { endpoint, eventId, outcome };
      });
      totals = `${moved} ${done}, ${stayed} not ${done}`;
      if (isAsking) continue;
      if (json) for (const row of rows) terminal.printJson({ ...row, ...dry });
      else tableOf(rows, inbox, shown, terminal.paint).forEach(terminal.print);
      terminal.progress(totals);
    }
    const kinds = [...bySender].map(([name, count]) => `${formatCount(count)} ${echoed(name)}`);
    const counts = `${formatCount(moved, "event")}: ${kinds.join(", ")}`;
    if (isAsking && moved > 0) throw usageError(`this deletes the payload of ${counts}; add --yes`);
    if (isDry && moved > 0) {
      totals = `would be ${done}: ${counts}`;
      touched.clear();
    }
    for (const { endpoint, facts } of how === "retry" ? await inbox.states(inbox.now) : []) {
      if (!touched.has(endpoint)) continue;
      const what = inbox.isShared ? echoed(endpoint) : "this inbox";
      if (facts.hasReceiver === false)
        terminal.note(`no receiver has ${what} open; the events are handed off when one starts`);
      for (const { id, text } of describeSituation(facts).problems)
        if (id === "inbox_paused") terminal.note(`${what}: ${text}`);
    }
    if (moved + stayed > 0) return;
    const [{ state } = {}, ...others] = queries ?? [];
    terminal.note(
      others.length > 0
        ? "no event that is dead or waits matches: it may have been handed off by now; `inbox failures` says what fails"
        : `no event is ${options.state ?? state ?? "selected"}`,
    );
    await noteIfEmpty(inbox, terminal);
  });
  // To find nothing dead is as expected, but a filter that finds nothing may be misspelt.
  const isOk = stayed === 0 && (moved > 0 || !isFiltered(options));
  if (json) terminal.printJson({ summary: { ok: isOk, ...dry, [done]: moved, failed: stayed } });
  else if (moved + stayed !== 1)
    terminal.print((isOk ? terminal.paint.green : terminal.paint.red)(totals));
  return isOk ? EXIT.ok : EXIT.failed;
}

function tableOf(
  rows: readonly (EventKey & { outcome: RetryOutcome })[],
  { endpoints }: CommandInbox,
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

/** An id that no event has lacks the rest. */
type Chosen = EventKey & Partial<Pick<InboxEntry, "state" | "sender">>;

async function* selectEvents(
  inbox: CommandInbox,
  ids: readonly string[],
  queries: readonly SearchQuery[] | null,
): AsyncGenerator<Chosen[]> {
  const [endpoint = ""] = inbox.endpoints;
  const find = async (eventId: string) =>
    (await findEvent(inbox, eventId)) ?? { endpoint, eventId };
  if (queries === null) yield await Promise.all(ids.map(find));
  for (const query of queries ?? []) {
    // The oldest first, in the order of their keys.
    const pages: Chosen[][] = [];
    for await (const page of searchPages(inbox, query))
      // Of the done ones only those that no function has had.
      pages.unshift(query.state === "done" ? page.filter(isIgnored) : page);
    for (const page of pages) yield page.toReversed();
  }
}
