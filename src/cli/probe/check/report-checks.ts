import { printable, someNames, type Terminal, formatTable } from "../../console/terminal.js";
import type { Exchange } from "../../deliveries/send-cases.js";
import type { AnswerTimes } from "../../deliveries/send-delivery.js";
import type { CheckKind, CheckResult } from "./check-context.js";
import { CHECKS } from "./checks.js";

export interface Run {
  summary: Summary;
  ok: boolean;
  times: AnswerTimes | null;
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

const WIDTH_OF_VERDICT = "  skipped".length;
const WIDTH_OF_ID = Math.max(...CHECKS.map(({ id }) => id.length));

export type Summary = ReturnType<typeof summarise>;

export function summarise(results: readonly CheckResult[]) {
  const countKind = (kind: CheckKind) => {
    const counts = { passed: 0, failed: 0, skipped: 0 };
    for (const result of results) if (result.kind === kind) counts[result.outcome] += 1;
    return counts;
  };
  const skipped = results.filter(
    ({ kind, outcome }) => kind === "required" && outcome === "skipped",
  );
  return {
    required: countKind("required"),
    advised: countKind("advised"),
    skipped: skipped.map(({ id }) => id),
  };
}

/**
 * Whether no required check failed and, with `strict`, no advised check failed and no required
 * check was skipped.
 */
export function isGood({ required, advised, skipped }: Summary, strict: boolean): boolean {
  return required.failed === 0 && (!strict || (advised.failed === 0 && skipped.length === 0));
}

export function reportAsText(terminal: Terminal, planned: number) {
  const { paint } = terminal;
  let done = 0;
  let kind: CheckKind | undefined;

  return {
    add(result: CheckResult): void {
      done += 1;
      if (result.kind !== kind)
        terminal.print(`${kind === undefined ? "" : "\n"}${paint.bold(HEADINGS[result.kind])}`);
      kind = result.kind;
      for (const line of linesOf(result, terminal)) terminal.print(line);
      terminal.progress(`${done} of ${planned} checks`);
    },
    finish({ summary, ok, clockOffsetMs, stoppedBy }: Run): void {
      const { green, red, yellow } = paint;
      terminal.print("");
      if (clockOffsetMs !== 0) terminal.print(yellow(describeOffset(clockOffsetMs)));
      const { required, advised, skipped } = summary;
      if (skipped.length > 0) terminal.print(yellow(`not proved: ${skipped.join(", ")}`));
      const counts =
        `required: ${required.passed} passed, ${required.failed} failed, ${required.skipped} skipped; ` +
        `advised: ${advised.passed} passed, ${advised.failed} not followed, ${advised.skipped} skipped`;
      terminal.print((ok ? green : red)(`${stoppedBy === null ? "" : "not finished; "}${counts}`));
    },
  };
}

function linesOf(
  { id, kind, title, outcome, probes, note, reason, hint }: CheckResult,
  { paint }: Terminal,
): string[] {
  const verdict = {
    passed: paint.green("  ok"),
    failed: kind === "advised" ? paint.yellow("  advice") : paint.red("  FAILED"),
    skipped: paint.dim("  skipped"),
  }[outcome];
  const bad = outcome === "failed" ? probes.filter(({ ok }) => !ok) : [];
  const others = bad.slice(SHOWN_PROBES).map(({ name }) => name);
  const details = [
    ...(reason === undefined ? [] : [["why", reason]]),
    ...(note === undefined ? [] : [["note", note]]),
    ...bad.slice(0, SHOWN_PROBES).flatMap(({ name, sent, expected, actual }) => [
      ["probe", name],
      ["sent", sent],
      ["expected", expected],
      ["actual", actual],
    ]),
    ...(others.length === 0 ? [] : [["and", `${others.length} more: ${someNames(others)}`]]),
    ...(outcome === "failed" ? [["fix", hint]] : []),
  ];
  const rows = details.map(([name = "", text = ""]) => [
    paint.dim(`      ${name}`),
    printable(text),
  ]);
  const head = [[verdict, id, title]];
  return [...formatTable(head, [WIDTH_OF_VERDICT, WIDTH_OF_ID]), ...formatTable(rows)];
}

export function reportAsJson(terminal: Terminal, strict: boolean): ReturnType<typeof reportAsText> {
  return {
    add({ hint, seconds, ...row }) {
      const ms = Math.round(seconds * 1000);
      terminal.printJson({ ...row, ...(row.outcome === "failed" && { hint }), ms });
    },
    finish({ summary, ok, times: acknowledgements, clockOffsetMs, stoppedBy }) {
      const state = stoppedBy === null ? { complete: true } : { complete: false, stoppedBy };
      terminal.printJson({
        summary: { ok, ...state, strict, ...summary, acknowledgements, clockOffsetMs },
      });
    },
  };
}

/**
 * A `Date` header has whole seconds, so a smaller clock difference cannot be measured and counts as
 * none.
 */
const NOTICEABLE_MS = 500;

/**
 * The least possible difference between the receiver's clock and this machine's clock, in
 * milliseconds; negative if the receiver's clock is behind. Each `Date` header has the receiver's
 * time at a moment between the sending of a delivery and its answer. The result is 0 when the
 * clocks may agree according to these headers, and when no answer has one.
 */
export function receiverClockOffset(exchanges: readonly Exchange[]): number {
  let least = -Infinity;
  let most = Infinity;
  for (const { answer, sentAt, answeredAt } of exchanges) {
    const date = answer.kind === "answer" ? Date.parse(answer.headers.date ?? "") : NaN;
    if (Number.isNaN(date)) continue;
    least = Math.max(least, date - answeredAt);
    most = Math.min(most, date + 1000 - sentAt);
  }
  // The headers contradict each other, so they show nothing: several machines answer, or a clock
  // was changed during the run.
  if (least > most || !Number.isFinite(least)) return 0;
  if (least > NOTICEABLE_MS) return least;
  return most < -NOTICEABLE_MS ? most : 0;
}

function describeOffset(offsetMs: number): string {
  const seconds = Math.abs(offsetMs / 1000).toFixed(1);
  const side = offsetMs > 0 ? "ahead of" : "behind";
  return `the receiver's clock is ${seconds} s ${side} this machine's clock, according to its Date header`;
}
