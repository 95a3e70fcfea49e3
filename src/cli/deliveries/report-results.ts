import { printable, someNames } from "../console/printable.js";
import { formatTable, type Cell } from "../console/table.js";
import type { Terminal } from "../console/terminal.js";
import { parseEvent } from "../../events/parse-event.js";
import { describeAnswer, describeWanted, isQuarantined, type Answer } from "./answer.js";
import type { Delivery } from "./delivery-schema.js";
import type { CaseResult } from "./send-cases.js";

/** If this many cases failed, and more than half of all, they probably have one cause, and `doctor` is suggested. */
const MANY = 6;

export type ResultReport = ReturnType<typeof reportResults>;

export function reportResults(terminal: Terminal, deliveries: readonly Delivery[], asJson: boolean) {
  const { paint } = terminal;
  const planned = deliveries.reduce((sum, { repeat = 1 }) => sum + repeat, 0);
  // Each line is printed when its answer arrives, so the column widths are computed in advance from all cases.
  const expectations = deliveries.flatMap(({ expect, expectRepeat = expect }) => [expect, expectRepeat]);
  const widthOfExpected = Math.max(8, ...expectations.map((each) => describeWanted("exact", each).length));
  const names = deliveries.map(({ name, repeat = 1 }) => (repeat === 1 ? name : `${name} (${repeat}/${repeat})`));
  const widths = [Math.max(8, ...names.map((name) => printable(name).length)), widthOfExpected, widthOfExpected];
  const startedAt = performance.now();
  let total = 0;
  const failed: string[] = [];
  /** How many events the receiver accepted: for `onSignal`, for `onTest`, and quarantined. Duplicates are not counted. */
  const accepted = { signals: 0, tests: 0, quarantined: 0 };

  const printRow = (row: readonly Cell[]): void => formatTable([row], widths).forEach(terminal.print);

  function countAccepted({ answer, sent }: CaseResult): void {
    if (isQuarantined(answer)) accepted.quarantined += 1;
    if (answer.kind !== "answer" || answer.body !== '{"received":true}') return;
    const parsed = parseEvent(sent);
    if (parsed.kind === "unknown") accepted.quarantined += 1;
    else if (parsed.kind === "known" && parsed.event.type === "signal.published") accepted.signals += 1;
    else if (parsed.kind === "known" && parsed.event.type === "webhook.test") accepted.tests += 1;
  }

  return {
    add(result: CaseResult): void {
      total += 1;
      if (!result.ok) failed.push(printable(result.name));
      countAccepted(result);
      if (asJson) terminal.printJson(jsonOf(result));
      else {
        if (total === 1) printRow(["DELIVERY", "EXPECTED", "ACTUAL"].map((text) => ({ text, paint: paint.dim })));
        printRow(rowOf(result, terminal));
      }
      terminal.progress(`${total} of ${planned}${failed.length > 0 ? `, ${failed.length} failed` : ""}`);
    },
    failed,
    accepted,
    /** Prints the totals on stderr. */
    summarise(): void {
      const { green, red } = terminal.notePaint;
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
      terminal.note(
        failed.length === 0
          ? green(`all ${total} answers as expected, in ${seconds} s`)
          : red(`${failed.length} of ${total} answers not as expected: ${someNames(failed)}`),
      );
      if (failed.length >= MANY && failed.length > total / 2) {
        terminal.note("most answers are wrong: `npx signalbox doctor --url` with the same address finds the cause");
      }
    },
  };
}

function rowOf({ name, expected, answer, ok }: CaseResult, { paint }: Terminal): Cell[] {
  const wanted = describeWanted("exact", expected);
  const short = describeAnswer(answer, false);
  // If the short descriptions are equal and the answer is wrong, the whole answer shows the difference.
  const actual = !ok && short === wanted ? describeAnswer(answer, true) : short;
  return [
    { text: printable(name) },
    { text: wanted, paint: paint.dim },
    { text: actual },
    ok ? { text: "ok", paint: paint.green } : { text: "FAILED", paint: paint.red },
  ];
}

function jsonOf({ delivery: { name }, sending, sendings, expected, answer, ok }: CaseResult): object {
  return { name, sending, sendings, expected, actual: actualOf(answer), ok };
}

function actualOf(answer: Answer): object {
  if (answer.kind === "answer") return { status: answer.status, body: answer.shown, ms: answer.ms };
  const { kind: _kind, ...failure } = answer;
  return failure;
}
