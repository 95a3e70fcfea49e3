import { sendDelivery } from "../send-delivery.js";
import type { CheckContext } from "./check-context.js";
import { isRefusal } from "./judge-answer.js";
import { wordsOf } from "./run-cases.js";

/** Authentic, and each of another kind. The first does no harm where it is taken, and is then the only one. */
const AUTHENTIC = ["verification", "repeated-test-event", "new-signal"];

/**
 * What a receiver answers that refuses all that is authentic, as with another secret; `null` for one that takes something. It
 * would pass whatever asks for a refusal and fail all the rest, each with a mend that is beside the point. None of it counts
 * among the exchanges.
 */
export async function refusalOfAll(context: CheckContext): Promise<string | null> {
  const { url, timeoutMs, signal } = context;
  let words: string | null = null;
  for (const name of AUTHENTIC) {
    const answer = await sendDelivery(url, context.build(name).build(0), { timeoutMs, signal });
    if (!isRefusal(answer)) return null;
    words = wordsOf(answer, context);
  }
  return words;
}
