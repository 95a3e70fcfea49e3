import { printable } from "../../console/printable.js";
import type { Terminal } from "../../console/terminal.js";
import type { Finding } from "./findings.js";
import type { Outcome } from "./examinations.js";

const WIDTH = "problem  ".length;

export function reportOutcomes(terminal: Terminal, asJson: boolean) {
  const problems: Finding[] = [];
  let warnings = 0;
  let group = "";
  /** Neighbours that are skipped for the same reason share a line. */
  let skipped: { names: string[]; reason: string } | null = null;

  function flushSkipped(): void {
    if (skipped === null) return;
    const { names, reason } = skipped;
    terminal.print(terminal.paint.dim(`  ${"skipped".padEnd(WIDTH)}${names.join(", ")}: ${reason}`));
    skipped = null;
  }

  return {
    add(outcome: Outcome): void {
      if ("findings" in outcome) {
        problems.push(...outcome.findings.filter(({ level }) => level === "problem"));
        warnings += outcome.findings.filter(({ level }) => level === "warning").length;
      }
      if (asJson) {
        for (const row of rowsOf(outcome)) terminal.printJson(row);
        return;
      }
      if (outcome.examination.group !== group) {
        flushSkipped();
        terminal.print(`${group === "" ? "" : "\n"}${terminal.paint.bold(outcome.examination.group)}`);
        group = outcome.examination.group;
      }
      if ("skipped" in outcome) {
        if (skipped?.reason !== outcome.skipped) flushSkipped();
        skipped ??= { names: [], reason: outcome.skipped };
        skipped.names.push(outcome.examination.name);
        return;
      }
      flushSkipped();
      for (const line of linesOf(outcome.findings, terminal)) terminal.print(line);
    },
    /** Prints one line on stderr. */
    summarise(): void {
      flushSkipped();
      const { green, red, yellow } = terminal.notePaint;
      const words = `${count(problems.length, "problem")}, ${count(warnings, "warning")}`;
      const colour = problems.length > 0 ? red : warnings > 0 ? yellow : green;
      const names = problems.length === 0 ? "" : `: ${problems.map(({ id }) => id).join(", ")}`;
      terminal.note(colour(words + names));
    },
  };
}

function linesOf(findings: readonly Finding[], { paint }: Terminal): string[] {
  const colours = { ok: paint.green, warning: paint.yellow, problem: paint.red };
  return findings.flatMap(({ level, id, found, fix }) => {
    const line = `  ${colours[level](level)}${" ".repeat(WIDTH - level.length)}${printable(found)} ${paint.dim(`[${id}]`)}`;
    return fix === null ? [line] : [line, `  ${" ".repeat(WIDTH)}→ ${printable(fix)}`];
  });
}

function rowsOf(outcome: Outcome): object[] {
  const { name: examination, group } = outcome.examination;
  if ("skipped" in outcome) {
    return [{ level: "skipped", id: null, examination, group, found: outcome.skipped, fix: null }];
  }
  return outcome.findings.map(({ level, id, found, fix }) => ({ level, id, examination, group, found, fix }));
}

function count(number: number, thing: string): string {
  return `${number === 0 ? "no" : number} ${thing}${number === 1 ? "" : "s"}`;
}
