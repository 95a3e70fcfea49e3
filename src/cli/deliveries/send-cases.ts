import { randomBytes } from "node:crypto";
import { isSuccess, JUDGES, type Answer, type Wanted } from "./answer.js";
import { buildDelivery, type BuiltDelivery } from "./build-delivery.js";
import type { Delivery, Expectation, FixtureFolder } from "./fixture-folder.js";
import { sendDelivery, unreachable, type Hold } from "./send-delivery.js";

export interface Target {
  url: URL;
  secret: string;
  events: FixtureFolder["events"];
  timeoutMs: number;
  signal: AbortSignal;
}

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
export function createCaseSender(target: Target, asIs: boolean) {
  const { url, secret, events, timeoutMs, signal } = target;
  const otherSecret = `other_${randomBytes(24).toString("hex")}`;
  return {
    build: (delivery: Delivery) => buildDelivery(delivery, { events, secret, otherSecret, asIs }),
    /** @param index from 0 @throws CliError when there is no connection, and on Ctrl-C */
    async send(built: BuiltDelivery, index: number, hold?: Hold): Promise<Exchange> {
      const { delivery, sendings } = built;
      const outgoing = built.build(index);
      const sentAt = Date.now();
      const how = { timeoutMs, signal, secrets: [secret], ...(hold !== undefined && { hold }) };
      const answer = await sendDelivery(url, outgoing, how);
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

export interface CaseResult extends Exchange {
  wanted: Wanted;
  ok: boolean;
}

/**
 * Sends the cases and judges each answer. A case that is sent several times waits for each answer
 * before it is sent again.
 */
export async function sendCases(
  cases: readonly { built: BuiltDelivery; wanted: Wanted }[],
  concurrency: number,
  send: CaseSender["send"],
  onResult: (result: CaseResult) => void,
): Promise<void> {
  await inParallel(cases, concurrency, async ({ built, wanted }) => {
    for (let index = 0; index < built.sendings; index++) {
      const exchange = await send(built, index);
      onResult({ ...exchange, wanted, ok: isAsWanted(exchange, wanted) });
    }
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
