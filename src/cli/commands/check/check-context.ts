import { isSuccess, propertyIn, type Answer } from "../../deliveries/answer.js";
import type { Delivery } from "../../deliveries/delivery-schema.js";
import { createCaseSender, type Exchange } from "../../deliveries/send-cases.js";
import type { CheckContext, CheckSettings } from "./check.js";

export function createCheckContext(settings: CheckSettings): CheckContext {
  const { events, deliveries } = settings.fixtures;
  const cases = new Map(deliveries.map((delivery) => [delivery.name, delivery]));
  const exchanges: Exchange[] = [];
  const sender = createCaseSender({ ...settings, events }, false);
  let marking: Promise<boolean> | undefined;

  async function sendTwice(): Promise<boolean> {
    const [first, second] = (await sendTimes(2, "new-signal", context)) as [Answer, Answer];
    return isSuccess(first) && isSuccess(second) && !isMarkedDuplicate(first) && isMarkedDuplicate(second);
  }

  const context: CheckContext = {
    ...settings,
    exchanges,
    build: (name) => sender.build(withAcceptedType(cases.get(name) as Delivery, exchanges)),
    async send(built, index, hold) {
      const exchange = await sender.send(built, index, hold);
      exchanges.push(exchange);
      return exchange;
    },
    marksDuplicates: () => (marking ??= sendTwice()),
  };
  return context;
}

/**
 * Returns the delivery with another signal type, one that the receiver accepted, if the receiver refused the delivery's own type.
 * A refused type fails the check `events.signals`, but must not also fail the checks of ages, repeats and sizes.
 */
function withAcceptedType(delivery: Delivery, exchanges: readonly Exchange[]): Delivery {
  const { event } = delivery;
  if (event === undefined || isPlain(delivery) || !isRefused(event, exchanges)) return delivery;
  const accepted = exchanges.find((each) => isPlain(each.delivery) && isSuccess(each.answer));
  return accepted === undefined ? delivery : { ...delivery, event: accepted.delivery.name };
}

/** The delivery is a signal of the fixtures without any change, so its answer shows whether the receiver accepts its type. */
function isPlain({ name, event }: Delivery): boolean {
  return name === event && event.startsWith("signals/");
}

function isRefused(event: string, exchanges: readonly Exchange[]): boolean {
  const own = exchanges.filter(({ delivery }) => delivery.name === event);
  return own.length > 0 && !own.some(({ answer }) => isSuccess(answer));
}

export function isMarkedDuplicate(answer: Answer): boolean {
  return propertyIn(answer, "duplicate") === true;
}

export async function sendTimes(times: number, name: string, { build, send }: CheckContext): Promise<Answer[]> {
  const built = build(name);
  const answers: Answer[] = [];
  for (let index = 0; index < times; index++) answers.push((await send(built, index)).answer);
  return answers;
}
