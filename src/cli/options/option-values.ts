import type { Command } from "#commander";

/**
 * Commander takes the next word as the value of an option, so `--junit --json` would write a file `--json`. This function
 * refuses such a value unless it is typed as `--junit=--json`. The message does not quote the value, which may be a secret.
 *
 * @throws CliError: `command.error` throws Commander's error, and `program.ts` converts it
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
    command.error(`error: option '${option.flags}' argument missing (${how})`, {
      code: "commander.optionMissingArgument",
    });
  }
}
