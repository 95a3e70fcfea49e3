import { printable, someNames } from "../../console/printable.js";
import type { Terminal } from "../../console/terminal.js";
import { describeTimes, type AnswerTimes } from "./answer-times.js";
import type { CheckKind, CheckResult, Probe } from "./check.js";
import { describeOffset } from "./receiver-clock.js";

/** Prints results as they come, for people or as NDJSON. */
export interface CheckReport {
  add(result: CheckResult): void;
  finish(measured: Measured): void;
}

/** What a run has seen beside its checks. */
export interface Measured {
  times: AnswerTimes | null;
  /** Of the receiver's clock, in milliseconds; 0 when it may well agree. */
  clockOffsetMs: number;
  /** Why it ended before its last check; `null` when it did not. */
  stoppedBy: string | null;
}

interface Settings {
  /** How many checks there will be. */
  planned: number;
  strict: boolean;
}

const HEADINGS: Readonly<Record<CheckKind, string>> = {
  required: "REQUIRED by the service's document",
  advised: "ADVISED by signalbox; the document leaves it open",
};
/** Of one check; some of the rest are named. `--json` has all. */
const SHOWN_PROBES = 3;

export type Counts = Record<CheckResult["outcome"], number>;

/** The results so far, by kind and outcome. */
export interface Summary {
  required: Counts;
  advised: Counts;
  /** The ids of required checks that were skipped: nothing is known of them. */
  skipped: string[];
}

export function summarise(results: readonly CheckResult[]): Summary {
  const of = (kind: CheckKind): Counts => {
    const counts = { passed: 0, failed: 0, skipped: 0 };
    for (const { check, outcome } of results) if (check.kind === kind) counts[outcome] += 1;
    return counts;
  };
  const skipped = results.filter(({ check, outcome }) => check.kind === "required" && outcome === "skipped");
  return { required: of("required"), advised: of("advised"), skipped: skipped.map(({ check }) => check.id) };
}

/** Whether nothing failed that has to hold; with `strict` the advice has to hold too, and all that is required be seen. */
export function isGood({ required, advised, skipped }: Summary, strict: boolean): boolean {
  return required.failed === 0 && (!strict || (advised.failed === 0 && skipped.length === 0));
}

export function reportAsText(terminal: Terminal, { planned, strict }: Settings): CheckReport {
  const { paint } = terminal;
  const results: CheckResult[] = [];
  let kind: CheckKind | undefined;
  let group = "";

  function printHeadings({ check }: CheckResult): void {
    if (check.kind !== kind) {
      if (kind !== undefined) terminal.print("");
      terminal.print(paint.bold(HEADINGS[check.kind]));
      kind = check.kind;
      group = "";
    }
    const [of = ""] = check.id.split(".");
    if (of !== group) terminal.print(`  ${paint.bold(of)}`);
    group = of;
  }

  return {
    add(result) {
      results.push(result);
      printHeadings(result);
      for (const line of linesOf(result, terminal)) terminal.print(line);
      terminal.progress(`${results.length} of ${planned} checks`);
    },
    finish({ times, clockOffsetMs, stoppedBy }) {
      const summary = summarise(results);
      const isComplete = stoppedBy === null;
      if (clockOffsetMs !== 0) terminal.note(terminal.notePaint.yellow(describeOffset(clockOffsetMs)));
      if (times !== null) terminal.note(`acknowledgements: ${describeTimes(times)}`);
      const { required, advised } = summary;
      const parts = [
        `required: ${countsOf(required)}`,
        `advised: ${advised.passed} passed, ${advised.failed} not followed, ${advised.skipped} skipped`,
      ];
      const { green, red, yellow } = terminal.notePaint;
      const colour = isComplete && isGood(summary, strict) ? green : red;
      terminal.note(colour(`${isComplete ? "" : "not finished; "}${parts.join("; ")}`));
      if (summary.skipped.length > 0) terminal.note(yellow(`not proved: ${summary.skipped.join(", ")}`));
    },
  };
}

function countsOf({ passed, failed, skipped }: ReturnType<typeof summarise>["required"]): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}

function linesOf({ check, outcome, probes, note, reason, hint }: CheckResult, { paint }: Terminal): string[] {
  const isAdvice = check.kind === "advised";
  const verdict = {
    passed: paint.green("ok     "),
    failed: isAdvice ? paint.yellow("advice ") : paint.red("FAILED "),
    skipped: paint.dim("skipped"),
  }[outcome];
  const remark = reason ?? note;
  const head = [
    `    ${verdict} ${check.id.padEnd(22)} ${check.title}`,
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

function linesOfProbe({ name, sent, expected, came }: Probe): string[] {
  return [
    `            ${printable(name)}`,
    `              sent      ${printable(sent)}`,
    `              expected  ${printable(expected)}`,
    `              came      ${printable(came)}`,
  ];
}

export function reportAsJson(terminal: Terminal, { strict }: Settings): CheckReport {
  const results: CheckResult[] = [];
  return {
    add(result) {
      results.push(result);
      const { check, outcome, probes, note, reason, hint, seconds } = result;
      const { id, kind, title } = check;
      const ms = Math.round(seconds * 1000);
      terminal.printJson({
        id,
        kind,
        outcome,
        title,
        ...(reason !== undefined && { reason }),
        ...(note !== undefined && { note }),
        ...(outcome === "failed" && { hint }),
        ms,
        probes,
      });
    },
    finish({ times: acknowledgements, clockOffsetMs, stoppedBy }) {
      const summary = summarise(results);
      const complete = stoppedBy === null;
      const ok = complete && isGood(summary, strict);
      const stop = complete ? {} : { stoppedBy };
      terminal.printJson({
        summary: { ok, complete, ...stop, strict, ...summary, acknowledgements, clockOffsetMs },
      });
    },
  };
}
