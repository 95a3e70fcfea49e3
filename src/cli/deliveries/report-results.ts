import { describeAnswer, describeExpectation } from "./compare-answer.js";
import type { Delivery } from "./delivery-schema.js";
import { printable } from "../console/printable.js";
import type { DeliveryResult } from "./run-deliveries.js";
import type { Answer } from "./send-delivery.js";
import { someNames } from "./some-names.js";
import { formatTable, type Cell } from "../console/table.js";
import type { Terminal } from "../console/terminal.js";

/** So many have one cause, and not each its own. */
const MANY = 6;

/** Prints results as they come, and counts them. */
export interface ResultReport {
  add(result: DeliveryResult): void;
  /** The names of those that were not as expected. */
  readonly failed: readonly string[];
  /** One line on stderr. */
  summarise(): void;
}

export function reportResults(terminal: Terminal, deliveries: readonly Delivery[], asJson: boolean): ResultReport {
  const { paint } = terminal;
  const planned = deliveries.reduce((sum, { repeat = 1 }) => sum + repeat, 0);
  // Lines are printed one by one, so the widths are those of what is to come.
  const expectations = deliveries.flatMap(({ expect, expectRepeat = expect }) => [expect, expectRepeat]);
  const widthOfExpected = Math.max(8, ...expectations.map((each) => describeExpectation(each).length));
  const names = deliveries.map(({ name, repeat = 1 }) => nameOf(name, repeat, repeat));
  const widths = [Math.max(8, ...names.map((name) => name.length)), widthOfExpected, widthOfExpected];
  const startedAt = performance.now();
  let total = 0;
  const failed: string[] = [];

  const printRow = (row: readonly Cell[]): void => formatTable([row], widths).forEach(terminal.print);

  return {
    add(result) {
      total += 1;
      if (!result.ok) failed.push(nameOf(result.name, result.sending, result.sendings));
      if (asJson) terminal.printJson(jsonOf(result));
      else {
        if (total === 1) printRow(["DELIVERY", "EXPECTED", "ACTUAL"].map((text) => ({ text, paint: paint.dim })));
        printRow(rowOf(result, terminal));
      }
      terminal.progress(`${total} of ${planned}${failed.length > 0 ? `, ${failed.length} failed` : ""}`);
    },
    failed,
    summarise() {
      const { green, red } = terminal.notePaint;
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
      terminal.note(
        failed.length === 0
          ? green(`all ${total} answers as expected, in ${seconds} s`)
          : red(`${failed.length} of ${total} answers not as expected: ${someNames(failed)}`),
      );
      if (failed.length >= MANY && failed.length > total / 2) {
        terminal.note("most of them: `npx signalbox doctor --url` with the same address says what is wrong");
      }
    },
  };
}

function rowOf({ name, sending, sendings, expected, answer, ok }: DeliveryResult, { paint }: Terminal): Cell[] {
  const wanted = describeExpectation(expected);
  const short = describeAnswer(answer, false);
  // Where the short words agree and the answers do not, the whole answer shows the difference.
  const actual = !ok && short === wanted ? describeAnswer(answer, true) : short;
  return [
    { text: nameOf(name, sending, sendings) },
    { text: wanted, paint: paint.dim },
    { text: actual },
    ok ? { text: "ok", paint: paint.green } : { text: "FAILED", paint: paint.red },
  ];
}

function nameOf(name: string, sending: number, sendings: number): string {
  return printable(sendings === 1 ? name : `${name} (${sending}/${sendings})`);
}

function jsonOf({ name, sending, sendings, expected, answer, ok }: DeliveryResult): object {
  return { name, sending, sendings, expected, actual: actualOf(answer), ok };
}

function actualOf(answer: Answer): object {
  if (answer.kind === "answer") return { status: answer.status, body: answer.body, ms: answer.ms };
  const { kind: _kind, ...failure } = answer;
  return failure;
}
