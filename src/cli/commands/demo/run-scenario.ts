import { createClient, type Client } from "../../../client/client.js";
import { createEmulator, type Emulator } from "../../../emulator/instance/create-emulator.js";
import { SIGNAL_TYPES } from "../../../events/signal-types.js";
import { throwIfInterrupted } from "../../options/define-command.js";
import { advanceToNextSignals } from "../../../emulator/control/advance-to-next-signals.js";
import { registerAllTypes } from "../../registration/register-all-types.js";
import type { DemoReceiver } from "./demo-receiver.js";
import { reportHandOffs, type Report } from "./report-steps.js";

/** The number of products that the account follows. They are the products with the most traffic. */
const FOLLOWED = 25;

interface Scenario {
  emulator: Emulator;
  client: Client;
  accountId: number;
  receiver: DemoReceiver;
  report: Report;
  /** Aborts on Ctrl-C. */
  signal: AbortSignal;
}

/**
 * Runs the service: registers the receiver, verifies it, lets a month pass, sends a signal again, and tampers with a delivery.
 *
 * @returns a secret of the receiver
 */
export async function runScenario(receiver: DemoReceiver, report: Report, signal: AbortSignal): Promise<string> {
  const key = "sbk_the_key_of_this_demo";
  const emulator = createEmulator({
    port: 0,
    accounts: [{ name: "Demo", tier: "pro", key }],
    // The service's clock advances by a month within seconds, but the receiver uses this machine's clock and would refuse
    // signatures with timestamps of the service's clock.
    assumptions: { allowLoopbackHttp: true, signatureClock: "machine" },
  });
  try {
    await emulator.start();
    const client = createClient({ baseUrl: emulator.baseUrl, apiKey: key });
    const [account] = (await emulator.control.listAccounts()).items;
    const scenario = { emulator, client, accountId: account?.account_id ?? 0, receiver, report, signal };
    report("service", true, "an emulator, and a receiver without a secret");
    await follow(scenario);
    const secret = await register(scenario);
    for (const step of [awaitVerification, letAMonthPass, sendOneAgain, tamperWithOne]) {
      throwIfInterrupted(signal);
      await step(scenario);
    }
    return secret;
  } finally {
    await emulator.close();
  }
}

async function follow({ client, emulator, accountId, report }: Scenario): Promise<void> {
  const { items, eligible_population: eligible } = await client.rankings({ sort: "traffic", limit: FOLLOWED });
  const slugs = items.map(({ slug }) => slug);
  await emulator.control.follow({ account_id: accountId, slugs });
  report("follow", slugs.length === FOLLOWED, `the ${slugs.length} largest of ${eligible} products`);
}

async function register({ client, receiver, report }: Scenario): Promise<string> {
  const made = await registerAllTypes(client, { url: receiver.url.href, secretFile: receiver.secrets });
  report("register", true, `${SIGNAL_TYPES.length} signal types, in ${made.length} registrations`);
  return made.at(-1)?.signing_secret ?? "";
}

async function awaitVerification({ emulator, receiver, report }: Scenario): Promise<void> {
  await emulator.control.settle();
  const { items } = await emulator.control.listRegistrations();
  const active = items.filter(({ status }) => status === "active").length;
  const { verified } = receiver.receiver.health().deliveries;
  const isOk = active === items.length && verified >= active;
  report("handshake", isOk, `${active} of ${items.length} registrations verified`);
}

async function letAMonthPass({ emulator, receiver, report, signal }: Scenario): Promise<void> {
  const { now } = await advanceToNextSignals(emulator.control, signal);
  throwIfInterrupted(signal);
  const sent = new Set((await deliveredSignals(emulator)).map(({ event_id }) => event_id));
  await receiver.settle(sent.size, signal);
  throwIfInterrupted(signal);
  const types = new Set(receiver.signals.map(({ data }) => data.signal_type));
  report("month", sent.size > 0, `it is ${now.slice(0, 10)}: ${sent.size} signals of ${types.size} types`);
  reportHandOffs(receiver.keys, sent.size, report);
}

async function sendOneAgain({ emulator, receiver, report }: Scenario): Promise<void> {
  const before = receiver.signals.length;
  const [delivery] = await deliveredSignals(emulator);
  if (delivery === undefined) return report("again", false, "no signal was delivered");
  const { delivery_id } = await emulator.control.redeliver({ delivery_id: delivery.delivery_id });
  await emulator.control.settle();
  const { attempts } = await emulator.control.readDelivery({ delivery_id });
  const answer = attempts[0]?.answer;
  const isDuplicate = answer?.status === 200 && answer.body === '{"received":true,"duplicate":true}';
  const isOk = isDuplicate && receiver.signals.length === before;
  report("again", isOk, `a signal sent again: ${answer?.status ?? "no answer"}${isOk ? " duplicate" : ""}`);
}

async function tamperWithOne({ emulator, report }: Scenario): Promise<void> {
  const [delivery] = await deliveredSignals(emulator);
  const request = delivery?.attempts[0]?.request;
  if (delivery === undefined || request === undefined) return report("tampered", false, "no signal was delivered");
  const body = request.body.replace(delivery.event_id, `x${delivery.event_id.slice(1)}`);
  const answer = await fetch(request.url, { method: "POST", headers: headersOf(request.headers), body });
  const isMismatch = (await answer.text()).includes('"signature_mismatch"');
  const isOk = answer.status === 401 && isMismatch && body !== request.body;
  report("tampered", isOk, `one letter changed: ${answer.status}${isMismatch ? " signature_mismatch" : ""}`);
}

async function deliveredSignals({ control }: Emulator) {
  const { items } = await control.listDeliveries({ state: "delivered", limit: 500 });
  return items.filter(({ event_type }) => event_type === "signal.published");
}

/** The headers without those that `fetch` sets itself. */
function headersOf(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !/^(content-length|host|connection)$/i.test(name)),
  );
}
