import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { NewRegistration } from "../../../service/contract/webhook-registration.js";
import { createClient } from "../../../service/client/client.js";
import { registerAllTypes } from "../register/register-all-types.js";
import { waitUntilActive } from "../register/wait-until-active.js";
import type { Session } from "./session.js";

const PAUSE_MS = 300;
/** After so many pauses, most commands have started their receiver. */
const TRIES_OF_A_START = 20;
const TIMEOUT_MS = 3000;
/** The pause after a verification that failed: the user has to change the receiver first. */
const FIX_PAUSE_MS = 3000;

/**
 * Waits for the receiver, registers it for all signal types, waits until it is verified, and
 * publishes a first signal.
 *
 * @throws CliError when the secret file cannot be written
 */
export async function connectReceiver(session: Session): Promise<void> {
  await waitForReceiver(session);
  const { options, emulator, apiKey, secrets } = session;
  const { url, secretFile } = options;
  const client = createClient({ baseUrl: emulator.baseUrl, apiKey });
  const registrations = await registerAllTypes(client, { url: url.href, secretFile });
  secrets.push(...registrations.map(({ signing_secret }) => signing_secret));
  // The verifications of the service come first, so that the receiver need not answer further ones.
  await emulator.control.settle();
  await waitUntilVerified(registrations, session);
  const [slug = ""] = session.slugs;
  await emulator.control.publishSignal({ signal_type: "price_increased", slug });
}

async function waitForReceiver({
  options: { url, command },
  screen,
  stop,
}: Session): Promise<void> {
  for (let tries = 0; !(await isListening(url)); tries++) {
    const advice = command.length === 0 ? ": start your receiver, for example npm start" : "";
    if (tries === 0) screen.say(`waiting for ${url.href}${advice}`);
    if (tries === TRIES_OF_A_START && command.length > 0) {
      screen.say(
        `nothing listens on ${url.host} yet: if your receiver uses another port, name that with PORT or --url`,
      );
    }
    await sleep(PAUSE_MS, undefined, { signal: stop.signal });
  }
}

/** Whether something accepts connections at the address. */
export async function isListening({ hostname, port, protocol }: URL): Promise<boolean> {
  const usualPort = protocol === "https:" ? 443 : 80;
  const host = hostname.replaceAll(/[[\]]/g, "");
  const socket = connect({ host, port: Number(port) || usualPort, timeout: TIMEOUT_MS });
  socket.once("timeout", () => socket.destroy(new Error("timeout")));
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/**
 * Repeats the verification until it succeeds. Prints the obstacle, but only when it is another one
 * than before.
 */
async function waitUntilVerified(
  registrations: readonly NewRegistration[],
  { cli: { env }, emulator: { baseUrl }, options: { url, secretFile }, screen, stop }: Session,
): Promise<void> {
  const where = { url: url.href, baseUrl, secretFile, timeout: 5 };
  // Its own notes would repeat what is said here.
  const quiet = { env, signal: stop.signal, note: () => undefined };
  let told: string | null = null;
  for (;;) {
    const outcome = await waitUntilActive(registrations, where, quiet);
    if (typeof outcome === "string") return;
    if (outcome.found !== told) screen.say(`not verified: ${outcome.found}. ${outcome.fix}`);
    told = outcome.found;
    await sleep(FIX_PAUSE_MS, undefined, { signal: stop.signal });
  }
}
