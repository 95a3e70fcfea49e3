import type { Delivery } from "../../deliveries/delivery-schema.js";
import { isSuccess } from "../../deliveries/answer.js";
import type { Exchange } from "../../deliveries/send-cases.js";
import type { CheckContext } from "./check.js";

type Exchanges = readonly Exchange[];

/**
 * The same case with a signal that this receiver accepts, where it refuses the one of the case for its type. Only
 * `events.signals` is about refused types; other checks are about ages, repeats or sizes.
 */
export function withTakenType(delivery: Delivery, exchanges: Exchanges): Delivery {
  const { event } = delivery;
  if (event === undefined || isPlain(delivery) || isTaken(event, exchanges) !== false) return delivery;
  const taken = takenIn(exchanges);
  return taken === undefined ? delivery : { ...delivery, event: taken };
}

/** Sends those of these signals that were not sent yet. If one is refused, sends others until one is accepted. */
export async function learnTypes(events: readonly string[], context: CheckContext): Promise<void> {
  const { exchanges, fixtures } = context;
  for (const event of events.filter(isSignal)) await sendOnce(event, context);
  if (!events.some((event) => isTaken(event, exchanges) === false)) return;
  for (const event of [...fixtures.events.keys()].filter(isSignal)) {
    if (takenIn(exchanges) !== undefined) return;
    await sendOnce(event, context);
  }
}

/** A signal of the fixtures, without any change. */
export function isPlain({ name, event }: Delivery): boolean {
  return name === event && isSignal(name);
}

export function isSignal(event: string): boolean {
  return event.startsWith("signals/");
}

async function sendOnce(event: string, context: CheckContext): Promise<void> {
  if (isTaken(event, context.exchanges) === undefined) await context.send(context.build(event), 0);
}

/** `undefined` while it was not sent. */
function isTaken(event: string, exchanges: Exchanges): boolean | undefined {
  const own = exchanges.filter(({ delivery }) => delivery.name === event);
  return own.length === 0 ? undefined : own.some(({ answer }) => isSuccess(answer));
}

function takenIn(exchanges: Exchanges): string | undefined {
  return exchanges.find(({ delivery, answer }) => isPlain(delivery) && isSuccess(answer))?.delivery.event;
}
