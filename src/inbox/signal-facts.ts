import type { KnownEvent, UnknownEvent } from "../events/envelope.js";
import type { NewEvent } from "./batch.js";

/** Other texts are not kept beside the payload, because a store must be able to keep them, and people read them in lists. */
const FACT = /^[\w.-]{1,200}$/;

/** What of a signal is kept beside its payload, for lists and searches. */
export function signalFacts(event: KnownEvent | UnknownEvent): Pick<NewEvent, "signalType" | "product"> {
  if (event.type !== "signal.published") return NO_FACTS;
  const { signal_type: signalType, product } = (event as Extract<KnownEvent, { type: "signal.published" }>).data;
  return {
    signalType: FACT.test(signalType) ? signalType : null,
    product: FACT.test(product.slug) ? product.slug : null,
  };
}

/** The facts of an event that is not a signal. */
export const NO_FACTS: Pick<NewEvent, "signalType" | "product"> = { signalType: null, product: null };
