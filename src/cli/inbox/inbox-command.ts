import type { Command } from "#commander";
import { withExamples, type CommandContext } from "../console/define-command.js";
import { addExportCommand } from "./export-command.js";
import { addFailuresCommand } from "./failures-command.js";
import { addImportCommand } from "./import-command.js";
import { addListCommand } from "./list-command.js";
import { addMoveCommands } from "./move-commands.js";
import { addPruneCommand } from "./prune-command.js";
import { addServeCommand } from "./serve-command.js";
import { addShowCommand } from "./show-command.js";
import { addStatsCommand } from "./stats-command.js";

export function addInboxCommand(program: Command, context: CommandContext): void {
  const command = program
    .command("inbox")
    .description(
      "List, show, retry and delete the events of an inbox. The receiver can run at the same time.",
    );
  withExamples(command, [
    [
      "signalbox inbox stats --db signals.db",
      "Is the receiver behind? Count the events in each state",
    ],
    [
      "signalbox inbox failures --db signals.db",
      "Which errors are there, since when, and about what?",
    ],
    ["signalbox inbox ls --db signals.db --state dead", "List the dead events"],
    [
      "signalbox inbox show sig_885702_10233 --db signals.db --payload",
      "Show an event's error and payload",
    ],
    ["signalbox inbox retry --all-dead --db signals.db", "Retry all dead events"],
    ["signalbox inbox serve --db signals.db", "Open the inbox in a browser"],
  ]);
  addListCommand(command, context);
  addFailuresCommand(command, context);
  addShowCommand(command, context);
  addMoveCommands(command, context);
  addExportCommand(command, context);
  addImportCommand(command, context);
  addPruneCommand(command, context);
  addStatsCommand(command, context);
  addServeCommand(command, context);
}
