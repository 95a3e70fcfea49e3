import type { Command } from "#commander";
import { runs, type CommandContext } from "../../console/define-command.js";

export function addCommand(program: Command, context: CommandContext): void {
  const command = program
    .command("demo")
    .description(
      "Show the service and a receiver at work on this machine. A month passes and signals arrive; then every fixture and " +
        "hostile delivery is sent to the receiver.",
    )
    .option("--verbose", "print a line for each delivery of the fixtures")
    .option("--keep", "keep the inbox's file and print its path")
    .option("--json", "print NDJSON, with a line for each delivery");
  runs(command, context, async (options, { cli }) =>
    (await import("./run-demo.js")).runDemo(options, cli),
  );
}
