import type { Command } from "commander";
import { runs, withExamples, type CommandContext } from "../../options/define-command.js";
import { usageError, type ExitCode } from "../../options/exit.js";
import { addInboxOptions, type InboxOptions } from "./open-inbox.js";
import { addSelectOptions, checkSelection, moveEvents, type Move, type SelectOptions } from "./move-events.js";

interface DiscardOptions extends InboxOptions, SelectOptions {
  yes?: true;
}

const WORDS: Move["words"] = {
  moved: "discarded",
  duplicate: "done already",
  not_found: "not found",
  wrong_state: "not discarded: it is neither dead nor quarantined",
  payload_gone: "not discarded: its payload is gone already",
  still_unusable: "not discarded",
};

export function addDiscardCommand(inbox: Command, context: CommandContext): void {
  const command = inbox
    .command("discard")
    .description("Give up dead or quarantined events for good: their payload is dropped, their id stays known.")
    .argument("[id...]", "the events' ids");
  addSelectOptions(addInboxOptions(command)).option("--yes", "really all of them; goes with --all-dead and --state");
  withExamples(command, [
    ["signalbox inbox discard sig_885702_10233 --db signals.db", "One event"],
    ["signalbox inbox discard --all-dead --yes --db signals.db", "Everything that was given up"],
  ]);
  runs(command, context, (ids: string[], options: DiscardOptions) => discard(ids, options, context));
}

async function discard(ids: readonly string[], options: DiscardOptions, context: CommandContext): Promise<ExitCode> {
  const state = checkSelection(ids, options);
  // An option instead of a question, which a script could not answer.
  if (state !== null && !options.yes) throw usageError(`this drops the payload of all that are ${state}: add --yes`);
  return moveEvents({ ids, state, options, words: WORDS, act: discardEvents }, context);
}

const discardEvents: Move["act"] = ({ store, endpoint }, eventIds) =>
  store.discard(
    eventIds.map((eventId) => ({ endpoint, eventId })),
    Date.now(),
  );
