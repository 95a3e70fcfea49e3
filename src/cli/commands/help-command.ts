import type { Command } from "commander";
import { nearMiss } from "../../options/near-miss.js";

/**
 * `help` for a command that has subcommands. The one of Commander reads only the first word, and does not report an unknown
 * one.
 */
export function addHelpCommand(group: Command): void {
  group
    .helpCommand(false)
    .command(HELP)
    .description("print the help of a command")
    .argument("[command...]", "its name")
    .action((names: readonly string[]) => commandNamed(names, group).help());
}

/** The names of the subcommands, without `help`. */
export function namesOfCommands({ commands }: Command): string[] {
  return commands.map((command) => command.name()).filter((name) => name !== HELP);
}

const HELP = "help";

function commandNamed(names: readonly string[], group: Command): Command {
  let found = group;
  for (const name of names) {
    const next = found.commands.find((command) => command.name() === name);
    if (next === undefined) return found.error(unknownCommand(name, found), { code: "commander.unknownCommand" });
    found = next;
  }
  return found;
}

/** The same message as Commander has for an unknown command. */
function unknownCommand(name: string, group: Command): string {
  const meant = nearMiss(name, namesOfCommands(group));
  return `error: unknown command '${name}'${meant === undefined ? "" : ` (Did you mean ${meant}?)`}`;
}
