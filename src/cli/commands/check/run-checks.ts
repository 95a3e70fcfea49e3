import { describeAnswer, isSuccess } from "../../deliveries/answer.js";
import type { Expectation } from "../../deliveries/delivery-schema.js";
import { describeWanted, type Wanted } from "../../deliveries/judge-answer.js";
import { isJsonObject } from "../../deliveries/restamp.js";
import { sendCases } from "../../deliveries/send-cases.js";
import { sendDelivery } from "../../deliveries/send-delivery.js";
import type { Check, CheckContext, CheckResult, Observation, Probe } from "./check.js";
import { describeDelivery } from "./describe-delivery.js";

/**
 * Runs the checks one after the other.
 *
 * @throws CliError when the receiver cannot be reached, or a command of the user's fails
 */
export async function runChecks(
  checks: readonly Check[],
  context: CheckContext,
  onResult: (result: CheckResult) => void,
): Promise<void> {
  const failed = new Set<string>();
  for (const check of checks) {
    const before = check.after?.find((id) => failed.has(id));
    const startedAt = performance.now();
    const observation =
      before === undefined
        ? await observe(check, context)
        : { probes: [], unseen: `${before} failed, so this says nothing more` };
    const result = judge(check, observation, (performance.now() - startedAt) / 1000);
    if (result.outcome === "failed") failed.add(check.id);
    onResult(result);
  }
}

function observe(check: Check, context: CheckContext): Promise<Observation> {
  return check.run === undefined ? runCases(check, context) : check.run(context);
}

function judge(
  { id, kind, title, hint }: Check,
  { probes, unseen, ...words }: Observation,
  seconds: number,
): CheckResult {
  const result = { id, kind, title, hint, ...words, probes, seconds };
  if (probes.some(({ ok }) => !ok)) return { ...result, outcome: "failed" };
  if (unseen !== undefined) return { ...result, outcome: "skipped", reason: unseen };
  return { ...result, outcome: "passed" };
}

async function runCases({ cases = [] }: Check, context: CheckContext): Promise<Observation> {
  const probes: Probe[] = [];
  const all = cases.map((what) => ({ what, wanted: wantedOf(context.build(what).delivery.expect) }));
  await sendCases(all, context.concurrency, context, ({ name, delivery, sending, wanted, expected, answer, ok }) => {
    probes.push({
      name,
      sent: describeDelivery(delivery, sending),
      expected: describeWanted(wanted, expected),
      came: describeAnswer(answer, true),
      ok,
    });
  });
  return { probes };
}

/**
 * What the expectation of a case means for any receiver. The codes and bodies in it are those of signalbox. The service's document
 * asks for a 2xx, a refusal or the challenge.
 */
function wantedOf({ status, body }: Expectation): Wanted {
  if (status === 401) return "refused";
  if (status !== 200) return "status";
  return isJsonObject(body) && "challenge" in body ? "challenge" : "accepted";
}

/** Authentic, and each of another kind. Accepting the first does no harm, and then it is the only one. */
const AUTHENTIC = ["verification", "repeated-test-event", "new-signal"];

/**
 * Says why a receiver that acknowledges nothing authentic is not checked: it has another secret, or a parser before it takes
 * the bytes. It would pass each check that asks for a refusal and fail all others, each with a misleading hint. `null` for a
 * receiver that accepts something. The exchanges of the context stay without these.
 */
export async function refusalOfAll({ url, secret, timeoutMs, signal, build }: CheckContext): Promise<string | null> {
  let last = "";
  for (const name of AUTHENTIC) {
    const answer = await sendDelivery(url, build(name).build(0), { timeoutMs, signal, secrets: [secret] });
    if (answer.kind !== "answer" || isSuccess(answer)) return null;
    last = describeAnswer(answer, false);
  }
  return (
    `it acknowledges no authentic delivery (${last}), so nothing was checked: \`npx signalbox doctor --url\` with the same ` +
    "address finds out why, or the receiver's log says it"
  );
}
