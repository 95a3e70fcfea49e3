import { randomBytes } from "node:crypto";
import { printable, formatTable, type Terminal } from "../console/terminal.js";
import { buildDelivery, type BuiltDelivery } from "./cases.js";
import type { Delivery, FixtureFolder } from "./fixture-folder.js";
import {
  describeAnswer,
  describeWanted,
  isSuccess,
  JUDGES,
  type Answer,
  type Expectation,
  type Wanted,
  sendDelivery,
  unreachable,
  type Hold,
  type Target,
} from "./send-delivery.js";

/** A receiver of the service's signals, and the events that cases name. */
type CaseTarget = Target & Pick<FixtureFolder, "events">;

export interface Exchange {
  delivery: Delivery;
  /** `new-signal`, or `repeated-signal (2/3)` for a case that is sent several times. */
  name: string;
  /** Counts from 1, up to `sendings`. */
  sending: number;
  sendings: number;
  sent: Buffer;
  expected: Expectation;
  answer: Answer;
  sentAt: number;
  answeredAt: number;
  /** The last byte was sent late on purpose, so the duration does not measure the receiver. */
  isHeld: boolean;
}

export type CaseSender = ReturnType<typeof createCaseSender>;

/** @param asIs send events with the ids and times of the fixtures */
export function createCaseSender(target: CaseTarget, asIs: boolean) {
  const { url, secrets, events } = target;
  const [secret = ""] = secrets;
  const otherSecret = `other_${randomBytes(24).toString("hex")}`;
  return {
    build: (delivery: Delivery) => buildDelivery(delivery, { events, secret, otherSecret, asIs }),
    /** @param index from 0 @throws CliError when there is no connection, and on Ctrl-C */
    async send(built: BuiltDelivery, index: number, hold?: Hold): Promise<Exchange> {
      const { delivery, sendings } = built;
      const outgoing = built.build(index);
      const sentAt = Date.now();
      const answer = await sendDelivery(target, outgoing, hold);
      // With `hold` many connections are made at the same time. A running server may refuse some,
      // which is no error here.
      if (answer.kind === "unreachable" && hold === undefined) throw unreachable(url, answer.code);
      const { name } = delivery;
      return {
        delivery,
        name: sendings === 1 ? name : `${name} (${index + 1}/${sendings})`,
        sending: index + 1,
        sendings,
        sent: outgoing.body,
        expected: built.expected(index),
        answer,
        sentAt,
        answeredAt: Date.now(),
        isHeld: hold !== undefined,
      };
    },
  };
}

/** A case that is sent several times waits for each answer before it is sent again. */
export async function sendCases(
  cases: readonly BuiltDelivery[],
  concurrency: number,
  send: CaseSender["send"],
  onExchange: (exchange: Exchange) => void,
): Promise<void> {
  await inParallel(cases, concurrency, async (built) => {
    for (let index = 0; index < built.sendings; index++) onExchange(await send(built, index));
  });
}

export function isAsWanted(exchange: Exchange, wanted: Wanted): boolean {
  return JUDGES[wanted](exchange.answer, exchange.expected) || isPreflight(exchange);
}

/**
 * Whether a middleware such as `cors()` answered OPTIONS for the whole app, before the receiver. It
 * is no harm: that is no delivery.
 */
function isPreflight({ delivery, answer }: Exchange): boolean {
  if (delivery.method !== "OPTIONS" || !isSuccess(answer)) return false;
  return answer.headers["access-control-allow-methods"] !== undefined;
}

/**
 * Runs `work` on the items, at most `concurrency` at a time. After a failure no further item is
 * started, and the first error is thrown when all running work has ended.
 */
export async function inParallel<Item>(
  items: Iterable<Item>,
  concurrency: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.iterator]();
  const failures: unknown[] = [];
  async function worker(): Promise<void> {
    while (failures.length === 0) {
      const next = iterator.next();
      if (next.done === true) return;
      try {
        await work(next.value);
      } catch (error) {
        failures.push(error);
      }
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker));
  if (failures.length > 0) throw failures[0];
}

export interface CaseResult extends Exchange {
  ok: boolean;
}

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
  target: CaseTarget,
  deliveries: readonly Delivery[],
  { asIs = false, concurrency = 1, rows }: ReplayOptions,
  terminal: Terminal,
): Promise<CaseResult[]> {
  const { build, send } = createCaseSender(target, asIs);
  const wanted = asIs ? "exact-or-duplicate" : "exact";
  const cases = deliveries.map(build);
  const planned = cases.reduce((sum, { sendings }) => sum + sendings, 0);
  const results: CaseResult[] = [];
  let failed = 0;
  await sendCases(cases, concurrency, send, (exchange) => {
    const ok = isAsWanted(exchange, wanted);
    const result = { ...exchange, ok };
    results.push(result);
    if (!ok) failed += 1;
    if (rows === "json") terminal.printJson(jsonOf(result));
    else if (rows === "all" || !ok)
      formatTable([rowOf(result, wanted, terminal)], [0, WIDTH_OF_NAME]).forEach(terminal.print);
    terminal.progress(`${results.length} of ${planned}${failed > 0 ? `, ${failed} failed` : ""}`);
  });
  return results;
}

export function failedNames(results: readonly CaseResult[]): string[] {
  return results.filter(({ ok }) => !ok).map(({ name }) => printable(name));
}

function rowOf(
  { name, expected, answer, ok }: CaseResult,
  wanted: Wanted,
  { paint }: Terminal,
): string[] {
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
