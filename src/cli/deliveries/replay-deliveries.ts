import { printable } from "../console/printable.js";
import { formatTable } from "../console/table.js";
import type { Terminal } from "../console/terminal.js";
import { describeAnswer, describeWanted, type Answer } from "./answer.js";
import type { Delivery } from "./fixture-folder.js";
import { createCaseSender, sendCases, type CaseResult, type Target } from "./send-cases.js";

export interface ReplayOptions {
  /**
   * Send events with the ids and times of the fixtures. The receiver may answer a known id as a
   * duplicate. @default false
   */
  asIs?: boolean;
  /** @default 1 */
  concurrency?: number;
  /** Which answers get a row. `failed`: only those that are not as expected. */
  rows: "all" | "failed" | "json";
}

/**
 * The longest name of the fixtures has this width. The rest of a row with a longer name starts
 * further right.
 */
const WIDTH_OF_NAME = 39;

/**
 * Sends each delivery to a receiver of signalbox, compares the answer with the expected one, and
 * prints it.
 */
export async function replayDeliveries(
  target: Target,
  deliveries: readonly Delivery[],
  { asIs = false, concurrency = 1, rows }: ReplayOptions,
  terminal: Terminal,
): Promise<CaseResult[]> {
  const { build, send } = createCaseSender(target, asIs);
  const wanted = asIs ? "exact-or-duplicate" : "exact";
  const cases = deliveries.map((delivery) => ({ built: build(delivery), wanted }) as const);
  const planned = cases.reduce((sum, { built }) => sum + built.sendings, 0);
  const results: CaseResult[] = [];
  let failed = 0;
  await sendCases(cases, concurrency, send, (result) => {
    results.push(result);
    if (!result.ok) failed += 1;
    if (rows === "json") terminal.printJson(jsonOf(result));
    else if (rows === "all" || !result.ok)
      formatTable([rowOf(result, terminal)], [0, WIDTH_OF_NAME]).forEach(terminal.print);
    terminal.progress(`${results.length} of ${planned}${failed > 0 ? `, ${failed} failed` : ""}`);
  });
  return results;
}

export function failedNames(results: readonly CaseResult[]): string[] {
  return results.filter(({ ok }) => !ok).map(({ name }) => printable(name));
}

function rowOf({ name, wanted, expected, answer, ok }: CaseResult, { paint }: Terminal): string[] {
  const short = describeAnswer(answer, false);
  if (ok) return [paint.green("ok"), printable(name), paint.dim(short)];
  const right = describeWanted(wanted, expected);
  // If the short descriptions are equal, the whole answer shows the difference.
  const actual = short === right ? describeAnswer(answer, true) : short;
  return [paint.red("FAILED"), printable(name), `${actual}, not ${right}`];
}

function jsonOf({
  delivery: { name },
  sending,
  sendings,
  expected,
  answer,
  ok,
}: CaseResult): object {
  return { name, sending, sendings, expected, actual: actualOf(answer), ok };
}

function actualOf(answer: Answer): object {
  if (answer.kind === "answer") return { status: answer.status, body: answer.shown, ms: answer.ms };
  const { kind: _kind, ...failure } = answer;
  return failure;
}
