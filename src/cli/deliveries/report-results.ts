import { printable } from "../console/printable.js";
import { formatTable, type Cell } from "../console/table.js";
import type { Terminal } from "../console/terminal.js";
import { parseEvent } from "../../events/parse-event.js";
import { describeAnswer, describeWanted, isQuarantined, type Answer } from "./answer.js";
import type { Delivery } from "./delivery-schema.js";
import type { CaseResult } from "./send-cases.js";

/** `failed`: only the results that are not as expected. */
export type Rows = "all" | "failed" | "json";

export type ResultReport = ReturnType<typeof reportResults>;

/** Columns for the rest of a row. If a name needs more than the others, the rest of its row starts further right. */
const BESIDE_NAME = 36;

export function reportResults(terminal: Terminal, deliveries: readonly Delivery[], rows: Rows) {
  const planned = deliveries.reduce((sum, { repeat = 1 }) => sum + repeat, 0);
  // Each row is printed when its answer arrives, so the width of the names is computed in advance.
  const names = deliveries.map(({ name, repeat = 1 }) => (repeat === 1 ? name : `${name} (${repeat}/${repeat})`));
  const width = Math.min(Math.max(...names.map(({ length }) => length)), Math.max(0, terminal.columns - BESIDE_NAME));
  let total = 0;
  const failed: string[] = [];
  /** How many events the receiver accepted: for `onSignal`, for `onTest`, and quarantined. Duplicates are not counted. */
  const accepted = { signals: 0, tests: 0, quarantined: 0 };

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
      if (rows === "json") terminal.printJson(jsonOf(result));
      else if (rows === "all" || !result.ok) formatTable([rowOf(result, terminal)], [0, width]).forEach(terminal.print);
      terminal.progress(`${total} of ${planned}${failed.length > 0 ? `, ${failed.length} failed` : ""}`);
    },
    get total() {
      return total;
    },
    failed,
    accepted,
  };
}

function rowOf({ name, expected, answer, ok }: CaseResult, { paint }: Terminal): Cell[] {
  const wanted = describeWanted("exact", expected);
  const short = describeAnswer(answer, false);
  if (ok) return [{ text: "ok", paint: paint.green }, { text: printable(name) }, { text: short, paint: paint.dim }];
  // If the short descriptions are equal, the whole answer shows the difference.
  const actual = short === wanted ? describeAnswer(answer, true) : short;
  return [{ text: "FAILED", paint: paint.red }, { text: printable(name) }, { text: `${actual}, not ${wanted}` }];
}

function jsonOf({ delivery: { name }, sending, sendings, expected, answer, ok }: CaseResult): object {
  return { name, sending, sendings, expected, actual: actualOf(answer), ok };
}

function actualOf(answer: Answer): object {
  if (answer.kind === "answer") return { status: answer.status, body: answer.shown, ms: answer.ms };
  const { kind: _kind, ...failure } = answer;
  return failure;
}
