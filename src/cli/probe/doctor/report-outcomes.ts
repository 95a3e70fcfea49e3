import { printable } from "../../console/printable.js";
import type { Terminal } from "../../console/terminal.js";
import type { Outcome } from "./examinations.js";

const WIDTH = "problem  ".length;
const INDENT = " ".repeat(WIDTH + 2);

export function reportOutcomes(terminal: Terminal, asJson: boolean) {
  const problems: string[] = [];
  const warnings: string[] = [];
  let group = "";

  function addText(outcome: Outcome): void {
    const { examination } = outcome;
    if (examination.group !== group) {
      terminal.print(`${group === "" ? "" : "\n"}${terminal.paint.bold(examination.group)}`);
      group = examination.group;
    }
    for (const line of linesOf(outcome, terminal)) terminal.print(line);
  }

  return {
    add(outcome: Outcome): void {
      for (const { level, id } of "findings" in outcome ? outcome.findings : []) {
        if (level === "problem") problems.push(id);
        if (level === "warning") warnings.push(id);
      }
      if (asJson) for (const row of rowsOf(outcome)) terminal.printJson(row);
      else addText(outcome);
    },
    summarise(): void {
      if (asJson)
        return terminal.printJson({ summary: { ok: problems.length === 0, problems, warnings } });
      const { green, red, yellow } = terminal.paint;
      const colour = problems.length > 0 ? red : warnings.length > 0 ? yellow : green;
      const counts = [
        problems.length === 0 ? "no problems found" : counted(problems, "problem"),
        ...(warnings.length === 0 ? [] : [counted(warnings, "warning")]),
      ];
      terminal.print(`\n${colour(counts.join("; "))}`);
    },
  };
}

function linesOf(outcome: Outcome, { paint }: Terminal): string[] {
  if ("skipped" in outcome) {
    return [paint.dim(`  ${"skipped".padEnd(WIDTH)}${outcome.examination.id}: ${outcome.skipped}`)];
  }
  const colours = { ok: paint.green, warning: paint.yellow, problem: paint.red };
  return outcome.findings.flatMap(({ level, id, found, fix, commands = [] }) => {
    const line = `  ${colours[level](level)}${" ".repeat(WIDTH - level.length)}${printable(found)} ${paint.dim(`[${id}]`)}`;
    return fix === null
      ? [line]
      : [line, `${INDENT}→ ${printable(fix)}`, ...commands.map((each) => `${INDENT}  $ ${each}`)];
  });
}

function rowsOf(outcome: Outcome): object[] {
  const { id: examination, group } = outcome.examination;
  if ("skipped" in outcome) {
    return [{ level: "skipped", id: null, examination, group, found: outcome.skipped, fix: null }];
  }
  return outcome.findings.map(({ level, id, found, fix, commands = [] }) => {
    const advice = fix === null ? null : [fix, ...commands.map((each) => `\`${each}\``)].join(" ");
    return { level, id, examination, group, found, fix: advice };
  });
}

function counted(ids: readonly string[], noun: string): string {
  return `${ids.length} ${noun}${ids.length === 1 ? "" : "s"}: ${ids.join(", ")}`;
}
