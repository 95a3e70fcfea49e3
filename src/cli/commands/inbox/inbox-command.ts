import type { Command } from "commander";
import { withExamples, type CommandContext } from "../../options/define-command.js";
import { addHelpCommand } from "../help-command.js";
import { addExportCommand } from "./export-command.js";
import { addListCommand } from "./list-command.js";
import { addMoveCommands } from "./move-commands.js";
import { addPruneCommand } from "./prune-command.js";
import { addShowCommand } from "./show-command.js";
import { addStatsCommand } from "./stats-command.js";

export function addInboxCommand(program: Command, context: CommandContext): void {
  const command = program
    .command("inbox")
    .description("List, show and move the events of an inbox, while its receiver runs or while it does not.");
  withExamples(command, [
    ["signalbox inbox stats --db signals.db", "How many events are in which state"],
    ["signalbox inbox ls --db signals.db --state dead", "What was given up"],
    ["signalbox inbox show sig_885702_10233 --db signals.db --payload", "Why, and what it was"],
    [
      "signalbox inbox retry --all-dead --db signals.db",
      "Hand it off again; a running receiver does so within a second",
    ],
  ]);
  addListCommand(command, context);
  addShowCommand(command, context);
  addMoveCommands(command, context);
  addExportCommand(command, context);
  addPruneCommand(command, context);
  addStatsCommand(command, context);
  addHelpCommand(command);
}
