import type { Command, CommandUnknownOpts, OptionValues } from "#commander";
import type { Cli, Outcome } from "./cli.js";
import { EXIT, type ExitCode } from "./exit.js";

export interface CommandContext {
  cli: Cli;
  outcome: Outcome;
}

/**
 * Adds `npx` in front of each `signalbox`, also inside `$(…)` and after a pipe. The package is
 * usually installed in a project, where a shell does not find `signalbox` without `npx`.
 */
export function byNpx(line: string): string {
  return line.replaceAll(/(?<=^|[ (])(?<!npx )signalbox /g, "npx signalbox ");
}

export type OptionsOf<Add extends (...args: never[]) => CommandUnknownOpts> = ReturnType<
  ReturnType<Add>["opts"]
>;

/** Makes `run` the action of the command. `run` returns the exit code, if it is not 0. */
export function runs<Args extends unknown[], Options extends OptionValues>(
  command: Command<Args, Options>,
  context: CommandContext,
  run: (...given: [...Args, Options, CommandContext]) => Promise<ExitCode | void>,
): void {
  command.action(async () => {
    context.outcome.commandName = commandPath(command);
    context.outcome.exitCode =
      (await run(...command.processedArgs, command.opts(), context)) ?? EXIT.ok;
  });
}

/** The command with its parents: `signalbox inbox ls`. */
export function commandPath(command: CommandUnknownOpts): string {
  const above = command.parent === null ? [] : [commandPath(command.parent)];
  return [...above, command.name()].join(" ");
}
