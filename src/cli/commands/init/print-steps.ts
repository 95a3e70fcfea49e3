import { printable } from "../../console/printable.js";
import type { Terminal } from "../../console/terminal.js";
import type { NextSteps } from "./next-steps.js";

/** What to type now, and in which terminal. */
export function printSteps({ commands, needs, alongside, inSecondTerminal }: NextSteps, terminal: Terminal): void {
  const { bold } = terminal.paint;
  if (needs !== null) {
    terminal.print(bold(`It needs ${needs.what}, such as:`));
    terminal.print(`  ${needs.command}`);
  }
  terminal.print(bold("Next:"));
  for (const command of commands) terminal.print(`  ${printable(command)}`);
  for (const command of alongside) {
    terminal.print(bold("Beside it, in the same folder of a terminal of its own:"));
    terminal.print(`  ${command}`);
  }
  terminal.print(
    bold(`While it runs, in the same folder of a ${alongside.length === 0 ? "second" : "third"} terminal:`),
  );
  terminal.print(`  ${inSecondTerminal}`);
}
