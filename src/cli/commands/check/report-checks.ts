import { printable, someNames } from "../../console/printable.js";
import type { Terminal } from "../../console/terminal.js";
import { describeTimes, type AnswerTimes } from "./answers.js";
import type { CheckKind, CheckResult, Probe } from "./check.js";
import { describeOffset } from "./age-bounds.js";

export interface Run {
  summary: Summary;
  ok: boolean;
  times: AnswerTimes | null;
  /** The clock difference that `receiverClockOffset` found. */
  clockOffsetMs: number;
  /** Why the run ended before its last check; `null` for a complete run. */
  stoppedBy: string | null;
}

const HEADINGS: Readonly<Record<CheckKind, string>> = {
  required: "REQUIRED by the service's document",
  advised: "ADVISED by signalbox; the document does not define it",
};
/** How many failed probes of a check the text shows in full. With `--json` all are printed. */
const SHOWN_PROBES = 3;

type Counts = Record<CheckResult["outcome"], number>;

export interface Summary {
  required: Counts;
  advised: Counts;
  skipped: string[];
}

export function summarise(results: readonly CheckResult[]): Summary {
  const countKind = (kind: CheckKind): Counts => {
    const counts = { passed: 0, failed: 0, skipped: 0 };
    for (const result of results) if (result.kind === kind) counts[result.outcome] += 1;
    return counts;
  };
  const skipped = results.filter(({ kind, outcome }) => kind === "required" && outcome === "skipped");
  return { required: countKind("required"), advised: countKind("advised"), skipped: skipped.map(({ id }) => id) };
}

/** Whether no required check failed and, with `strict`, no advised check failed and no required check was skipped. */
export function isGood({ required, advised, skipped }: Summary, strict: boolean): boolean {
  return required.failed === 0 && (!strict || (advised.failed === 0 && skipped.length === 0));
}

export function reportAsText(terminal: Terminal, planned: number) {
  const { paint } = terminal;
  let done = 0;
  let kind: CheckKind | undefined;
  let group = "";

  function printHeadings(result: CheckResult): void {
    if (result.kind !== kind) {
      if (kind !== undefined) terminal.print("");
      terminal.print(paint.bold(HEADINGS[result.kind]));
      kind = result.kind;
      group = "";
    }
    const [next = ""] = result.id.split(".");
    if (next !== group) terminal.print(`  ${paint.bold(next)}`);
    group = next;
  }

  return {
    add(result: CheckResult): void {
      done += 1;
      printHeadings(result);
      for (const line of linesOf(result, terminal)) terminal.print(line);
      terminal.progress(`${done} of ${planned} checks`);
    },
    finish({ summary, ok, times, clockOffsetMs, stoppedBy }: Run): void {
      const { green, red, yellow } = terminal.notePaint;
      if (clockOffsetMs !== 0) terminal.note(yellow(describeOffset(clockOffsetMs)));
      if (times !== null) terminal.note(`acknowledgements: ${describeTimes(times)}`);
      const { required, advised, skipped } = summary;
      const counts =
        `required: ${required.passed} passed, ${required.failed} failed, ${required.skipped} skipped; ` +
        `advised: ${advised.passed} passed, ${advised.failed} not followed, ${advised.skipped} skipped`;
      terminal.note((ok ? green : red)(`${stoppedBy === null ? "" : "not finished; "}${counts}`));
      if (skipped.length > 0) terminal.note(yellow(`not proved: ${skipped.join(", ")}`));
    },
  };
}

function linesOf({ id, kind, title, outcome, probes, note, reason, hint }: CheckResult, { paint }: Terminal): string[] {
  const verdict = {
    passed: paint.green("ok     "),
    failed: kind === "advised" ? paint.yellow("advice ") : paint.red("FAILED "),
    skipped: paint.dim("skipped"),
  }[outcome];
  const remark = reason ?? note;
  const head = [
    `    ${verdict} ${id.padEnd(22)} ${title}`,
    ...(remark === undefined ? [] : [paint.dim(`${" ".repeat(35)}(${printable(remark)})`)]),
  ];
  if (outcome !== "failed") return head;
  const bad = probes.filter(({ ok }) => !ok);
  const others = bad.slice(SHOWN_PROBES).map(({ name }) => name);
  return [
    ...head,
    ...bad.slice(0, SHOWN_PROBES).flatMap(linesOfProbe),
    ...(others.length === 0 ? [] : [`            and ${others.length} more: ${someNames(others)}`]),
    `            ${paint.bold("fix")}       ${hint}`,
  ];
}

function linesOfProbe({ name, sent, expected, actual }: Probe): string[] {
  return [
    `            ${printable(name)}`,
    `              sent      ${printable(sent)}`,
    `              expected  ${printable(expected)}`,
    `              actual    ${printable(actual)}`,
  ];
}

export function reportAsJson(terminal: Terminal, strict: boolean): ReturnType<typeof reportAsText> {
  return {
    add({ hint, seconds, ...row }) {
      const ms = Math.round(seconds * 1000);
      terminal.printJson({ ...row, ...(row.outcome === "failed" && { hint }), ms });
    },
    finish({ summary, ok, times: acknowledgements, clockOffsetMs, stoppedBy }) {
      const complete = stoppedBy === null;
      const stop = complete ? {} : { stoppedBy };
      terminal.printJson({
        summary: { ok, complete, ...stop, strict, ...summary, acknowledgements, clockOffsetMs },
      });
    },
  };
}
