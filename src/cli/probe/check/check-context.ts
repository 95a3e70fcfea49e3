import { shortened } from "../../console/terminal.js";
import { AFTER_SIGNING } from "../../deliveries/after-signing.js";
import type { BuiltDelivery } from "../../deliveries/cases.js";
import type { Delivery, FixtureFolder } from "../../deliveries/fixture-folder.js";
import {
  createCaseSender,
  isAsWanted,
  type CaseSender,
  type Exchange,
} from "../../deliveries/send-cases.js";
import {
  describeAnswer,
  describeWanted,
  isMarkedDuplicate,
  isSuccess,
  type Answer,
  type Wanted,
  type Target,
} from "../../deliveries/send-delivery.js";
import type { Step } from "../run-steps.js";

/**
 * `required`: the service's document requires it. `advised`: signalbox advises it, and the document
 * does not define it.
 */
export type CheckKind = "required" | "advised";

/** The id is a group, a dot and a name. A check that failed blocks those that need it. */
export interface Check extends Step {
  kind: CheckKind;
  title: string;
  hint: string;
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

interface CheckSettings extends Target {
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
  /** Sends a case so many times, one after the other. */
  sendTimes(times: number, name: string): Promise<Answer[]>;
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

  const context: CheckContext = {
    ...settings,
    exchanges,
    build: (name) => sender.build(withAcceptedType(cases.get(name) as Delivery, exchanges)),
    async send(built, index, hold) {
      const exchange = await sender.send(built, index, hold);
      exchanges.push(exchange);
      return exchange;
    },
    async sendTimes(times, name) {
      const built = context.build(name);
      const answers: Answer[] = [];
      for (let index = 0; index < times; index++)
        answers.push((await context.send(built, index)).answer);
      return answers;
    },
    marksDuplicates: () => (marking ??= context.sendTimes(2, "new-signal").then(isSecondMarked)),
  };
  return context;
}

/** Whether both were accepted, and the second alone is told to be a duplicate. */
function isSecondMarked(answers: readonly Answer[]): boolean {
  return answers.every(isSuccess) && answers.map(isMarkedDuplicate).join() === "false,true";
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

export function probeOf(exchange: Exchange, wanted: Wanted): Probe {
  const { name, delivery, sending, expected, answer } = exchange;
  return {
    name,
    sent: describeDelivery(delivery, sending),
    expected: describeWanted(wanted, expected),
    actual: describeAnswer(answer, true),
    ok: isAsWanted(exchange, wanted),
  };
}

function describeDelivery(delivery: Delivery, sending: number): string {
  const {
    event,
    body,
    bodyBase64,
    method = "POST",
    repeat = 1,
    afterSigning,
    padToBytes,
  } = delivery;
  const content =
    event ?? (bodyBase64 === undefined ? describeText(body ?? "") : "bytes that are not UTF-8");
  return [
    `${method} ${content}`,
    ...(padToBytes === undefined ? [] : [`padded to ${padToBytes} bytes`]),
    ...(delivery.chunked === true ? ["in chunks"] : []),
    describeSignature(delivery),
    ...(afterSigning === undefined ? [] : [AFTER_SIGNING[afterSigning].description]),
    ...(repeat === 1 ? [] : [`attempt ${sending} of ${repeat}`]),
    ...(delivery.conflict === true && sending > 1 ? ["with another body"] : []),
  ].join(", ");
}

function describeText(body: string): string {
  if (body === "") return "without a body";
  return body.length <= 40 ? `the text ${JSON.stringify(body)}` : "an event made for this case";
}

function describeSignature({ header, headerTwice, secret, skewSeconds = 0 }: Delivery): string {
  if (header === null) return "no signature";
  // Shown with its placeholders: `{t}` is the timestamp, `{v1}` is the correct digest.
  if (header !== undefined) return `the header ${shortened(header, 50)}`;
  const age =
    skewSeconds === 0
      ? ""
      : `, ${Math.abs(skewSeconds)} s ${skewSeconds < 0 ? "ago" : "in the future"}`;
  const signed = `signed ${secret === "other" ? "with another secret" : "correctly"}${age}`;
  return headerTwice === true ? `${signed}, the header twice` : signed;
}
