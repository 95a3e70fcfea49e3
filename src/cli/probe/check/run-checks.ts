import {
  describeAnswer,
  isSuccess,
  type Expectation,
  type Wanted,
} from "../../deliveries/answer.js";
import { isJsonObject } from "../../deliveries/restamp.js";
import { sendCases } from "../../deliveries/send-cases.js";
import { sendDelivery } from "../../deliveries/send-delivery.js";
import { runSteps } from "../run-steps.js";
import {
  probeOf,
  type Check,
  type CheckContext,
  type CheckResult,
  type Observation,
  type Probe,
} from "./check-context.js";

/**
 * One after the other. @throws CliError when the receiver cannot be reached, or a command that the
 * user gave fails
 */
export function runChecks(
  checks: readonly Check[],
  context: CheckContext,
  onResult: (result: CheckResult) => void,
): Promise<CheckResult[]> {
  return runSteps(
    checks,
    async (check, cause) => {
      const startedAt = performance.now();
      const observation =
        cause === undefined
          ? await (check.run?.(context) ?? runCases(check, context))
          : { probes: [], inconclusive: `skipped because ${cause} failed` };
      const result = judge(check, observation, (performance.now() - startedAt) / 1000);
      return [result, result.outcome === "failed" ? check.id : null];
    },
    onResult,
  );
}

function judge(
  { id, kind, title, hint }: Check,
  { probes, inconclusive, ...note }: Observation,
  seconds: number,
): CheckResult {
  const result = { id, kind, title, hint, ...note, probes, seconds };
  if (probes.some(({ ok }) => !ok)) return { ...result, outcome: "failed" };
  if (inconclusive !== undefined) return { ...result, outcome: "skipped", reason: inconclusive };
  return { ...result, outcome: "passed" };
}

async function runCases(
  { id, events = [] }: Check,
  { fixtures, build, send, concurrency }: CheckContext,
): Promise<Observation> {
  const probes: Probe[] = [];
  const cases = fixtures.deliveries
    .filter(({ name, check }) => check === id || events.includes(name))
    .map(({ name, expect }) => ({ built: build(name), wanted: wantedOf(expect) }));
  await sendCases(cases, concurrency, send, (result) =>
    probes.push(probeOf(result, result.wanted)),
  );
  return { probes };
}

/**
 * What any receiver must answer to a case. The error code and the body in a case are those of
 * signalbox's own receiver, so they are not compared. The service's document requires only a 2xx, a
 * refusal or the challenge.
 */
function wantedOf({ status, body }: Expectation): Wanted {
  if (status === 401) return "refused";
  if (status !== 200) return "status";
  return isJsonObject(body) && "challenge" in body ? "challenge" : "accepted";
}

/**
 * Authentic deliveries of different types. A receiver does not store the first. If it accepts that
 * one, the others are not sent.
 */
const AUTHENTIC = ["verification", "repeated-test-event", "new-signal"];

/**
 * Why this receiver is not checked: it answers every authentic delivery with a status other than
 * 2xx. Usually the receiver has another secret, or a parser reads the body first. Such a receiver
 * would pass each check that expects a refusal, and the hints of all other checks would mislead.
 * `null` for any other receiver.
 */
export async function reasonNotToCheck(context: CheckContext): Promise<string | null> {
  let last = "";
  for (const name of AUTHENTIC) {
    const answer = await sendDelivery(context, context.build(name).build(0));
    if (answer.kind !== "answer" || isSuccess(answer)) return null;
    last = describeAnswer(answer, false);
  }
  return (
    `the receiver acknowledges no authentic delivery (${last}), so nothing was checked. To find the cause, run ` +
    "`npx signalbox doctor --url` with the same address, or read the receiver's log"
  );
}
