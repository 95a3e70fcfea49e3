import { sendDelivery } from "../../deliveries/send-delivery.js";
import type { CheckContext } from "./check-context.js";
import { isSuccess } from "./judge-answer.js";
import { shortWordsOf } from "./run-cases.js";

/** Authentic, and each of another kind. The first does no harm where it is taken, and is then the only one. */
const AUTHENTIC = ["verification", "repeated-test-event", "new-signal"];

/**
 * What is to be said of a receiver that acknowledges nothing that is authentic, as with another secret, or behind a parser
 * that took the bytes; `null` for one that takes something. It would pass whatever asks for a refusal and fail all the rest,
 * each with a mend that is beside the point. None of it counts among the exchanges.
 */
export async function refusalOfAll(context: CheckContext): Promise<string | null> {
  const { url, timeoutMs, signal } = context;
  let said: string | null = null;
  for (const name of AUTHENTIC) {
    const answer = await sendDelivery(url, context.build(name).build(0), { timeoutMs, signal });
    if (answer.kind !== "answer") return null;
    const { status } = answer;
    if (isSuccess(answer)) return null;
    said = wordsFor(status, shortWordsOf(answer, context));
  }
  return said;
}

function wordsFor(status: number, answer: string): string {
  const same = "`npx signalbox doctor --url` with the same address";
  if (status >= 500) {
    return `it fails on whatever is authentic (${answer}), so nothing was checked: ${same} finds out why, or its log says it`;
  }
  if (status < 400) {
    return (
      `it acknowledges nothing that is authentic (${answer}), so nothing was checked: give the address that takes ` +
      `deliveries itself; ${same} says more`
    );
  }
  return (
    `it refuses whatever is authentic (${answer}), so nothing was checked: another secret, or something changes deliveries ` +
    `on their way; ${same} finds out which`
  );
}
