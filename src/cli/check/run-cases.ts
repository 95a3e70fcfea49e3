import { describeAnswer } from "../compare-answer.js";
import { inParallel } from "../in-parallel.js";
import type { Answer } from "../send-delivery.js";
import { withoutSecrets } from "../without-secrets.js";
import type { CaseCheck, Observation, Probe } from "./check.js";
import type { CheckContext } from "./check-context.js";
import { describeDelivery } from "./describe-delivery.js";
import { describeWanted, isWanted } from "./judge-answer.js";

/** Sends the cases of a check; the sendings of one case follow each other. */
export async function runCases({ cases }: CaseCheck, context: CheckContext): Promise<Observation> {
  const probes: Probe[] = [];
  const all = cases.flatMap(([wanted, ...names]) => names.map((name) => ({ wanted, name })));
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
