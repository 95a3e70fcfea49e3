import type { Delivery } from "../../deliveries/delivery-schema.js";
import type { CheckContext, Exchange } from "./check-context.js";
import { isSuccess } from "./judge-answer.js";

type Exchanges = readonly Exchange[];

/**
 * The same case about a signal that the receiver was seen to take, where it refuses the one of the case for its type: that is
 * for `events.signals` to find, and says nothing of ages, repeats or sizes.
 */
export function withTakenType(delivery: Delivery, exchanges: Exchanges): Delivery {
  const { event } = delivery;
  if (event === undefined || isPlain(delivery) || isTaken(event, exchanges) !== false) return delivery;
  const taken = takenIn(exchanges);
  return taken === undefined ? delivery : { ...delivery, event: taken };
}

/** Sends what was not sent yet of these events, as it is, and others until one is taken where one of them is not. */
export async function learnTypes(events: readonly string[], context: CheckContext): Promise<void> {
  const { exchanges, fixtures } = context;
  for (const event of events.filter(isSignal)) await sendOnce(event, context);
  if (!events.some((event) => isTaken(event, exchanges) === false)) return;
  for (const event of [...fixtures.events.keys()].filter(isSignal)) {
    if (takenIn(exchanges) !== undefined) return;
    await sendOnce(event, context);
  }
}

/** A signal of the fixtures, as it stands. */
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
