import type { Command } from "#commander";
import { runs, withExamples, type CommandContext } from "../console/define-command.js";
import { addInboxOptions } from "./open-inbox.js";

export function addImportCommand(parent: Command, context: CommandContext): void {
  const command = addInboxOptions(
    parent
      .command("import")
      .description(
        "Add the events that `inbox export` printed, from stdin. Events whose ids are in the inbox are not changed, so it can be run again.",
      ),
  ).option("--create", "make the inbox if there is none");
  withExamples(command, [
    [
      'signalbox inbox export --db signals.db > events.ndjson && signalbox inbox import --db "$DATABASE_URL" --create < events.ndjson',
      "Move an inbox into a database, while no receiver runs",
    ],
  ]);
  runs(command, context, async (...given) =>
    (await import("./import-events.js")).importEvents(...given),
  );
}
