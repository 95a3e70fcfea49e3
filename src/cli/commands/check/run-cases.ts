import { describeAnswer } from "../../deliveries/compare-answer.js";
import { inParallel } from "../../deliveries/in-parallel.js";
import type { Answer } from "../../deliveries/send-delivery.js";
import { withoutSecrets } from "../../deliveries/without-secrets.js";
import type { CaseCheck, Observation, Probe } from "./check.js";
import type { CheckContext } from "./check-context.js";
import { describeDelivery } from "./describe-delivery.js";
import { describeWanted, isWanted, type Wanted } from "./judge-answer.js";
import { isPlain, isSignal, learnTypes } from "./taken-types.js";

/** Sends the cases of a check; the sendings of one case follow each other. */
export async function runCases({ cases }: CaseCheck, context: CheckContext): Promise<Observation> {
  const probes: Probe[] = [];
  const all = cases.flatMap(([wanted, ...names]) => names.map((name) => ({ wanted, name })));
  await learnTypesOf(all, context);
  await inParallel(all, context.concurrency, async ({ wanted, name }) => {
    const built = context.build(name);
    const { sendings, delivery } = built;
    for (let index = 0; index < sendings; index++) {
      const answer = await context.send(built, index);
      const listed = built.expected(index);
      probes.push({
        name: sendings === 1 ? name : `${name} (${index + 1}/${sendings})`,
        sent: describeDelivery(delivery, index + 1),
        expected: describeWanted(wanted, listed),
        came: wordsOf(answer, context),
        ok: isWanted(wanted, answer, listed),
      });
    }
  });
  return { probes };
}

/** Before a refusal is blamed on something else. */
async function learnTypesOf(all: readonly { wanted: Wanted; name: string }[], context: CheckContext): Promise<void> {
  const cases = all.map(({ wanted, name }) => ({ wanted, delivery: context.build(name).delivery }));
  if (cases.some(({ delivery }) => isPlain(delivery))) return;
  if (!cases.some(({ wanted, delivery: { event = "" } }) => wanted === "accepted" && isSignal(event))) return;
  await learnTypes(
    cases.map(({ delivery: { event = "" } }) => event),
    context,
  );
}

type Secret = Pick<CheckContext, "secret">;

/** An answer for a report. */
export function wordsOf(answer: Answer, context: Secret): string {
  return describeAnswer(withoutSecret(answer, context), true);
}

/** The same with the code of an error alone: `500 body_unavailable`. */
export function shortWordsOf(answer: Answer, context: Secret): string {
  return describeAnswer(withoutSecret(answer, context), false);
}

/** A receiver may quote what it must not. */
function withoutSecret(answer: Answer, { secret }: Secret): Answer {
  return answer.kind === "answer" ? { ...answer, body: withoutSecrets(answer.body, [secret]) } : answer;
}
