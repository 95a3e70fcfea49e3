import { Argument, type Command, type CommandUnknownOpts } from "#commander";
import scripts from "./completion.json" with { type: "json" };
import { runs, type CommandContext } from "./define-command.js";

type Case = readonly [line: string, next: readonly string[]];

export function addCommand(program: Command, context: CommandContext): void {
  const command = program
    .command("completion")
    .description("Print the script by which a shell completes commands and options.")
    .addArgument(new Argument("<shell>", "the shell").choices(Object.keys(scripts)));
  runs(command, context, async (shell, _options, { cli: { terminal } }) => {
    const name = shell as keyof typeof scripts;
    const cases = casesOf(program, "").map(([line, next]) =>
      name === "fish"
        ? `    case '${line}'\n      string split -n ' ' -- '${next.join(" ")}'`
        : `    ${line.replaceAll(" ", "\\ ")}) next='${next.join(" ")}' ;;`,
    );
    const lines = scripts[name].flatMap((line) => (line === "CASES" ? cases : line));
    await terminal.write(`${lines.join("\n")}\n`);
  });
}

/**
 * What can follow a line, which is a pattern of the words before the cursor and of a dash at the
 * cursor. The special lines are first.
 */
function casesOf(command: CommandUnknownOpts, words: string): readonly Case[] {
  const options = command.options.filter(({ hidden }) => !hidden);
  const names = command.commands.map((inner) => inner.name());
  const values = command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices);
  return [
    ...command.commands.flatMap((inner) => casesOf(inner, `${words}${inner.name()} `)),
    ...options.flatMap(({ long, argChoices }): Case[] =>
      argChoices === undefined ? [] : [[`${words}*${long} `, argChoices]],
    ),
    [`${words}*-`, [...options.flatMap(({ long }) => long ?? []), "--help"]],
    [`${words}*`, [...names, ...values]],
  ];
}
