import { randomBytes } from "node:crypto";
import { buildDelivery, type BuiltDelivery } from "../../deliveries/build-delivery.js";
import { throwIfInterrupted } from "../../options/define-command.js";
import type { Delivery } from "../../deliveries/delivery-schema.js";
import type { FixtureFolder } from "../../deliveries/fixture-folder.js";
import { unreachable } from "../../deliveries/run-deliveries.js";
import { sendDelivery, type Answer, type Hold } from "../../deliveries/send-delivery.js";
import { isSuccess, tellsDuplicate } from "./judge-answer.js";
import { OWN_CASES } from "./own-cases.js";
import { withTakenType } from "./taken-types.js";

/** One delivery that was sent, and what came back. Times are of this machine's clock. */
export interface Exchange {
  delivery: Delivery;
  answer: Answer;
  sentAt: number;
  answeredAt: number;
  /** Kept back on its way, so its time says nothing. */
  isHeld: boolean;
}

export interface CheckSettings {
  url: URL;
  secret: string;
  fixtures: FixtureFolder;
  concurrency: number;
  timeoutMs: number;
  /** What an acknowledgement may take before that is a finding. */
  ackLimitMs: number;
  restartCommand: string | undefined;
  restartTimeoutMs: number;
  acceptedCommand: string | undefined;
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
}

/** What the checks of one run share. */
export interface CheckContext extends CheckSettings {
  /** All that was exchanged so far. */
  exchanges: readonly Exchange[];
  /** A case, by its name or as it stands, on its way out; about a signal that is taken, once that is known. */
  build(what: string | Delivery): BuiltDelivery & { delivery: Delivery };
  /** @throws CliError when nobody is there any more, or on Ctrl-C */
  send(built: ReturnType<CheckContext["build"]>, index: number, hold?: Hold): Promise<Answer>;
  /** Whether this receiver says `{"duplicate":true}` of what it has accepted before. */
  tellsRepeats(): Promise<boolean>;
}

export function createCheckContext(settings: CheckSettings): CheckContext {
  const { url, secret, fixtures, timeoutMs, signal } = settings;
  const cases = new Map([...fixtures.deliveries, ...OWN_CASES].map((delivery) => [delivery.name, delivery]));
  const exchanges: Exchange[] = [];
  const otherSecret = `other_${randomBytes(24).toString("hex")}`;
  let telling: Promise<boolean> | undefined;

  function caseNamed(name: string): Delivery {
    const delivery = cases.get(name);
    if (delivery === undefined) throw new Error(`there is no case ${name}`);
    return delivery;
  }

  const context: CheckContext = {
    ...settings,
    exchanges,
    build(what) {
      const delivery = withTakenType(typeof what === "string" ? caseNamed(what) : what, exchanges);
      const built = buildDelivery(delivery, { events: fixtures.events, secret, otherSecret, asIs: false });
      return { ...built, delivery };
    },
    async send({ build, delivery }, index, hold) {
      const outgoing = build(index);
      const sentAt = Date.now();
      const answer = await sendDelivery(url, outgoing, { timeoutMs, signal, ...(hold !== undefined && { hold }) });
      throwIfInterrupted(signal);
      // Of many at once a server that is there may refuse some.
      if (answer.kind === "unreachable" && hold === undefined) throw unreachable(url, answer.code);
      exchanges.push({ delivery, answer, sentAt, answeredAt: Date.now(), isHeld: hold !== undefined });
      return answer;
    },
    tellsRepeats() {
      telling ??= sendTwice(context);
      return telling;
    },
  };
  return context;
}

async function sendTwice(context: CheckContext): Promise<boolean> {
  const built = context.build("new-signal");
  const first = await context.send(built, 0);
  const second = await context.send(built, 1);
  return isSuccess(first) && isSuccess(second) && !tellsDuplicate(first) && tellsDuplicate(second);
}
