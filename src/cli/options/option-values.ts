import type { Command } from "commander";

/**
 * Commander takes whatever follows an option for its value: `--junit --json` would make a file `--json`. What begins with two
 * dashes is a value only as `--junit=--json`. The value is not quoted: it may be a secret.
 *
 * @throws CliError by way of the command
 */
export function assertOptionValues(program: Command, args: readonly string[]): void {
  let command = program;
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? "";
    if (arg === "--") return;
    command = command.commands.find((each) => each.name() === arg) ?? command;
    const option = command.options.find((each) => each.required && [each.short, each.long].includes(arg));
    if (option === undefined) continue;
    index += 1;
    if (args[index]?.startsWith("--") !== true) continue;
    const how = `a value that begins with -- is typed as in ${option.long ?? arg}=--value`;
    command.error(`error: option '${option.flags}' argument missing (${how})`, { code: MISSING });
  }
}

const MISSING = "commander.optionMissingArgument";
