import type { Command } from "commander";
import { runs, withExamples, type CommandContext } from "../../options/define-command.js";
import type { ExitCode } from "../../options/exit.js";
import { addInboxOptions, type InboxOptions } from "./open-inbox.js";
import { addSelectOptions, checkSelection, moveEvents, type Move, type SelectOptions } from "./move-events.js";

type RetryOptions = InboxOptions & SelectOptions;

const WORDS: Move["words"] = {
  moved: "ready again",
  duplicate: "done: it was accepted under its real id already",
  not_found: "not found",
  wrong_state: "not moved: it is ready or in hand already",
  payload_gone: "not moved: its payload is gone",
  still_unusable: "not moved: this release cannot use it either",
};

export function addRetryCommand(inbox: Command, context: CommandContext): void {
  const command = inbox
    .command("retry")
    .description("Hand events off again: dead or done ones, and quarantined ones that this release can use.")
    .argument("[id...]", "the events' ids");
  addSelectOptions(addInboxOptions(command));
  withExamples(command, [
    ["signalbox inbox retry sig_885702_10233 --db signals.db", "One event"],
    ["signalbox inbox retry --all-dead --db signals.db", "Everything that was given up, once the cause is fixed"],
    ["signalbox inbox retry --state quarantined --db signals.db", "After an upgrade"],
  ]);
  runs(command, context, (ids: string[], options: RetryOptions) => retry(ids, options, context));
}

async function retry(ids: readonly string[], options: RetryOptions, context: CommandContext): Promise<ExitCode> {
  const state = checkSelection(ids, options);
  return moveEvents({ ids, state, options, words: WORDS, act: retryEvents }, context);
}

const retryEvents: Move["act"] = async ({ store, endpoint }, eventIds) => {
  // Imported here: the other commands start faster without it.
  const { replayEvents } = await import("../../../inbox/replay.js");
  return replayEvents(store, endpoint, eventIds, Date.now());
};
