import { isSuccess, propertyIn, type Answer } from "../../deliveries/answer.js";
import type { BuiltDelivery } from "../../deliveries/build-delivery.js";
import type { Delivery, FixtureFolder } from "../../deliveries/fixture-folder.js";
import {
  createCaseSender,
  type CaseSender,
  type Exchange,
  type Target,
} from "../../deliveries/send-cases.js";

/**
 * `required`: the service's document requires it. `advised`: signalbox advises it, and the document
 * does not define it.
 */
export type CheckKind = "required" | "advised";

export interface Check {
  /** A group, a dot and a name. It never changes, because scripts name checks by it. */
  id: string;
  kind: CheckKind;
  title: string;
  hint: string;
  /**
   * Ids of checks. When one of them failed, this check is skipped, because it would fail for the
   * same reason.
   */
  dependsOn?: readonly string[];
  /**
   * Events of the fixtures that it sends, in addition to the cases of `deliveries.json` that name
   * this check.
   */
  events?: readonly string[];
  /** For what cannot be judged by one answer. */
  run?: (context: CheckContext) => Promise<Observation>;
}

/**
 * A delivery or a group of deliveries, and how it was answered. The texts hold no secret and no
 * signature.
 */
export interface Probe {
  name: string;
  sent: string;
  expected: string;
  actual: string;
  ok: boolean;
}

export interface Observation {
  probes: readonly Probe[];
  /** A remark on a check that passed: a measured time, or what was not checked. */
  note?: string;
  /**
   * Why the check proves nothing. It is reported as skipped with this reason, but as failed if one
   * of its probes failed.
   */
  inconclusive?: string;
}

export interface CheckResult extends Pick<Check, "id" | "kind" | "title" | "hint"> {
  outcome: "passed" | "failed" | "skipped";
  probes: readonly Probe[];
  note?: string;
  reason?: string;
  seconds: number;
}

export interface CheckSettings extends Omit<Target, "events"> {
  fixtures: FixtureFolder;
  concurrency: number;
  /** An acknowledgement that takes longer fails `answers.time`. */
  ackLimitMs: number;
  restartCommand: string | undefined;
  restartTimeoutMs: number;
  env: NodeJS.ProcessEnv;
}

export interface CheckContext extends CheckSettings {
  /** @param name of a case of `deliveries.json`, or of an event of the fixtures */
  build(name: string): BuiltDelivery;
  send: CaseSender["send"];
  exchanges: readonly Exchange[];
  /**
   * Whether the receiver answers a repeated event with `{"duplicate":true}`. The first call sends
   * an event twice to find out.
   */
  marksDuplicates(): Promise<boolean>;
}

export function createCheckContext(settings: CheckSettings): CheckContext {
  const { events, deliveries } = settings.fixtures;
  const cases = new Map(deliveries.map((delivery) => [delivery.name, delivery]));
  const exchanges: Exchange[] = [];
  const sender = createCaseSender({ ...settings, events }, false);
  let marking: Promise<boolean> | undefined;

  async function sendTwice(): Promise<boolean> {
    const [first, second] = (await sendTimes(2, "new-signal", context)) as [Answer, Answer];
    return (
      isSuccess(first) &&
      isSuccess(second) &&
      !isMarkedDuplicate(first) &&
      isMarkedDuplicate(second)
    );
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
 * Returns the delivery with another signal type, one that the receiver accepted, if the receiver
 * refused the delivery's own type. A refused type fails the check `events.signals`, but must not
 * also fail the checks of ages, repeats and sizes.
 */
function withAcceptedType(delivery: Delivery, exchanges: readonly Exchange[]): Delivery {
  const { event } = delivery;
  if (event === undefined || isPlain(delivery) || !isRefused(event, exchanges)) return delivery;
  const accepted = exchanges.find((each) => isPlain(each.delivery) && isSuccess(each.answer));
  return accepted === undefined ? delivery : { ...delivery, event: accepted.delivery.name };
}

/**
 * The delivery is a signal of the fixtures without any change, so its answer shows whether the
 * receiver accepts its type.
 */
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

export async function sendTimes(
  times: number,
  name: string,
  { build, send }: CheckContext,
): Promise<Answer[]> {
  const built = build(name);
  const answers: Answer[] = [];
  for (let index = 0; index < times; index++) answers.push((await send(built, index)).answer);
  return answers;
}
