import { isSuccess, propertyIn, type Answer } from "../../deliveries/answer.js";
import type { Delivery } from "../../deliveries/delivery-schema.js";
import { createCaseSender, type Exchange } from "../../deliveries/send-cases.js";
import type { CheckContext, CheckSettings } from "./check.js";
import { withTakenType } from "./taken-types.js";

export function createCheckContext(settings: CheckSettings): CheckContext {
  const { events, deliveries } = settings.fixtures;
  const cases = new Map(deliveries.map((delivery) => [delivery.name, delivery]));
  const exchanges: Exchange[] = [];
  const sender = createCaseSender({ ...settings, events }, { asIs: false });
  let telling: Promise<boolean> | undefined;

  function caseNamed(name: string): Delivery {
    const delivery = cases.get(name);
    if (delivery === undefined) throw new Error(`there is no case ${name}`);
    return delivery;
  }

  async function sendTwice(): Promise<boolean> {
    const built = context.build("new-signal");
    const { answer: first } = await context.send(built, 0);
    const { answer: second } = await context.send(built, 1);
    return isSuccess(first) && isSuccess(second) && !tellsDuplicate(first) && tellsDuplicate(second);
  }

  const context: CheckContext = {
    ...settings,
    exchanges,
    build: (what) => sender.build(withTakenType(typeof what === "string" ? caseNamed(what) : what, exchanges)),
    async send(built, index, hold) {
      const exchange = await sender.send(built, index, hold);
      exchanges.push(exchange);
      return exchange;
    },
    tellsRepeats() {
      telling ??= sendTwice();
      return telling;
    },
  };
  return context;
}

/** `{"duplicate":true}` among whatever else there is. */
export function tellsDuplicate(answer: Answer): boolean {
  return propertyIn(answer, "duplicate") === true;
}
