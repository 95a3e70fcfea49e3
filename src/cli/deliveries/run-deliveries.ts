import { randomBytes } from "node:crypto";
import { buildDelivery } from "./build-delivery.js";
import { isAsExpected } from "./compare-answer.js";
import { throwIfInterrupted } from "../options/define-command.js";
import type { Delivery, Expectation } from "./delivery-schema.js";
import { environmentError } from "../options/exit.js";
import type { FixtureFolder } from "./fixture-folder.js";
import { inParallel } from "./in-parallel.js";
import { sendDelivery, type Answer } from "./send-delivery.js";

/** What came of one sending of a case. */
export interface DeliveryResult {
  name: string;
  /** Counts from 1, up to `sendings`. */
  sending: number;
  sendings: number;
  expected: Expectation;
  answer: Answer;
  ok: boolean;
  /** The body that was sent. */
  sent: Buffer;
}

export interface RunInput {
  url: URL;
  secret: string;
  deliveries: readonly Delivery[];
  events: FixtureFolder["events"];
  asIs: boolean;
  concurrency: number;
  timeoutMs: number;
  signal: AbortSignal;
  onResult: (result: DeliveryResult) => void;
}

/**
 * Sends every case and compares each answer with what it must be. The sendings of one case follow each other.
 *
 * @throws CliError when there is nobody to send to
 */
export async function runDeliveries(input: RunInput): Promise<void> {
  const { url, deliveries, concurrency, timeoutMs, signal, asIs } = input;
  const context = { ...input, otherSecret: `other_${randomBytes(24).toString("hex")}` };
  await inParallel(deliveries, concurrency, async (delivery) => {
    const { sendings, build, expected } = buildDelivery(delivery, context);
    for (let index = 0; index < sendings; index++) {
      const outgoing = build(index);
      const answer = await sendDelivery(url, outgoing, { timeoutMs, signal });
      throwIfInterrupted(signal);
      if (answer.kind === "unreachable") throw unreachable(url, answer.code);
      const expectation = expected(index);
      input.onResult({
        name: delivery.name,
        sending: index + 1,
        sendings,
        expected: expectation,
        answer,
        ok: isAsExpected(answer, expectation, asIs),
        sent: outgoing.body,
      });
    }
  });
}

export function unreachable(url: URL, code: string): Error {
  // A user name and a password in it are nobody's business: such lines end up in the logs of build servers.
  const shown = Object.assign(new URL(url), { username: "", password: "" });
  return environmentError(`nothing can be reached at ${shown.href} (${code}): is the receiver running?`);
}
