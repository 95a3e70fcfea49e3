import { setTimeout as sleep } from "node:timers/promises";
import { isLoopbackHost } from "../../../base/addresses/address-kind.js";
import { verificationEvent } from "../../../kit/testing/signal-event.js";
import { signedDelivery } from "../../../kit/testing/signed-delivery.js";
import type { NewRegistration } from "../../../service/contract/webhook-registration.js";
import type { Cli } from "../../console/cli.js";
import { printable } from "../../console/terminal.js";
import { explainAnswer } from "../../deliveries/explain-answer.js";
import {
  errorCodeIn,
  isSuccess,
  propertyIn,
  type Answered,
  sendDelivery,
} from "../../deliveries/send-delivery.js";
import { connectControl } from "../emulator/remote-control.js";

interface WaitOptions {
  url: string;
  baseUrl: string;
  secretFile: string;
  timeout: number;
}

interface Obstacle {
  found: string;
  fix: string;
  /** It may pass without a change to the receiver, so it is worth waiting. */
  mayPass: boolean;
}

const PAUSE_MS = 500;

/**
 * Waits until the receiver answers a verification that is signed with each new secret, unless it is
 * active already. The service's document has no operation that reads a registration, so only an
 * emulator on this machine tells the status: there it waits until each is active.
 *
 * @returns `active`; `unknown` if the service does not tell the status; or the obstacle that
 * remains
 * @throws CliError when the command was interrupted
 */
export async function waitUntilActive(
  registrations: readonly NewRegistration[],
  options: WaitOptions,
  { note, ...cli }: Pick<Cli, "env" | "signal"> & { note: (line: string) => void },
): Promise<"active" | "unknown" | Obstacle> {
  const { signal } = cli;
  const endsAt = performance.now() + options.timeout * 1000;
  const secondsLeft = (): number => Math.max(1, Math.ceil((endsAt - performance.now()) / 1000));
  const emulator = await emulatorAt(options, cli);
  let noted: string | null = null;

  /** @returns the obstacle that `look` still finds when the time is over, or that does not pass */
  async function repeat(look: () => Promise<Obstacle | null>): Promise<Obstacle | null> {
    for (;;) {
      const obstacle = await look();
      if (obstacle === null || !obstacle.mayPass || performance.now() + PAUSE_MS > endsAt)
        return obstacle;
      if (obstacle.found !== noted) note(`waiting up to ${secondsLeft()} s: ${obstacle.found}`);
      noted = obstacle.found;
      await sleep(PAUSE_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }

  for (const { id, signing_secret: secret } of registrations) {
    // The service itself has verified it.
    if ((await emulator?.statusOf(id)) === "active") continue;
    const obstacle =
      (await repeat(() => verifyReceiver(secret, options, secondsLeft() * 1000, signal))) ??
      (emulator && (await repeat(() => emulator.look(id))));
    if (obstacle !== null) return obstacle;
  }
  return emulator === null ? "unknown" : "active";
}

async function verifyReceiver(
  secret: string,
  { url, secretFile }: WaitOptions,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Obstacle | null> {
  const event = verificationEvent();
  const { headers, body } = signedDelivery(event, { secret });
  const target = { url: new URL(url), secrets: [secret], timeoutMs, signal };
  const answer = await sendDelivery(target, { headers, body });
  if (isSuccess(answer) && propertyIn(answer, "challenge") === event.data.challenge) return null;
  if (answer.kind === "answer" && isForeignSecret(answer)) {
    return {
      found: "401: the receiver does not know the new secret",
      fix: `Have it read this file: createReceiver({ secrets: secretFile(${JSON.stringify(printable(secretFile))}), … }).`,
      // Another receiver than signalbox may read the file later.
      mayPass: errorCodeIn(answer) === null,
    };
  }
  const { found, fix } = explainAnswer(answer, timeoutMs);
  return { found, fix, mayPass: answer.kind !== "answer" || answer.status >= 500 };
}

function isForeignSecret(answer: Answered): boolean {
  const code = errorCodeIn(answer);
  if (code !== null) return code === "signature_mismatch";
  return answer.status === 401 && answer.headers["www-authenticate"] === undefined;
}

/** The control API of an emulator on this machine; `null` for any other service. */
async function emulatorAt({ baseUrl, timeout }: WaitOptions, cli: Pick<Cli, "env" | "signal">) {
  const { signal } = cli;
  const url = new URL(baseUrl);
  if (!isLoopbackHost(url.hostname)) return null;
  // Another service may leave a call of the control API without an answer.
  const connected = await connectControl(url, cli, timeout * 1000).catch(() =>
    signal.throwIfAborted(),
  );
  if (connected === undefined) return null;
  const { control } = connected;
  const asked = new Set<string>();
  const statusOf = async (id: string) =>
    (await control.readRegistration({ registration_id: id })).status;
  return {
    statusOf,
    /**
     * Asks once for another verification, because the emulator's own next attempt may be minutes
     * away.
     */
    async look(id: string): Promise<Obstacle | null> {
      const status = await statusOf(id);
      if (status === "active") return null;
      // It is refused if the registration has just become active.
      if (!asked.has(id))
        await control
          .verifyRegistration({ registration_id: id })
          .catch(() => signal.throwIfAborted());
      asked.add(id);
      return {
        found: `the emulator says that ${id} is ${status}`,
        fix: "`npx signalbox emulator deliveries` with the same address shows what came of its verification.",
        mayPass: status === "pending",
      };
    },
  };
}
