import { rm } from "node:fs/promises";
import { join } from "node:path";
import { createClient, type Client } from "../../../client/client.js";
import { createEmulator, type Emulator } from "../../../emulator/instance/create-emulator.js";
import { SIGNAL_TYPES } from "../../../events/signal-types.js";
import { secretFile } from "../../../receiver/secret-file.js";
import type { Cli } from "../../console/cli.js";
import { throwIfInterrupted } from "../../options/define-command.js";
import { openSecretWriter } from "../register/secret-writer.js";
import { readSignalTypes } from "../register/signal-type-list.js";
import { startDemoReceiver, type DemoReceiver } from "./demo-receiver.js";

/** The number of products that the account follows. They are the products with the most traffic. */
const FOLLOWED = 25;
const SECRETS = "signals.secret";
/** More than a month, because the service publishes the signals of a month some days after the month's end. */
const MAX_DAYS = 40;

interface Scenario {
  emulator: Emulator;
  client: Client;
  accountId: number;
  receiver: DemoReceiver;
  report: (step: string, isOk: boolean, text: string) => void;
  /** Aborts on Ctrl-C. */
  signal: AbortSignal;
}

/**
 * Runs the service and a receiver: registers, verifies, lets a month pass, receives its signals, has a signal sent again, and
 * tampers with a delivery.
 *
 * @returns whether all steps succeeded
 */
export async function runScenario({ json, verbose }: { json?: boolean; verbose?: true }, cli: Cli): Promise<boolean> {
  const { terminal } = cli;
  const { bold, green, red } = terminal.paint;
  let isAllOk = true;
  const report: Scenario["report"] = (step, isOk, text) => {
    isAllOk &&= isOk;
    if (json) return terminal.printJson({ step, text, ok: isOk });
    terminal.print(`${bold(step.padEnd(9))}  ${text}  ${isOk ? green("ok") : red("FAILED")}`);
  };
  const key = "sbk_the_key_of_this_demo";
  const emulator = createEmulator({
    port: 0,
    accounts: [{ name: "Demo", tier: "pro", key }],
    // The service's clock advances by a month within seconds, but the receiver uses this machine's clock and would refuse
    // signatures with timestamps of the service's clock.
    assumptions: { allowLoopbackHttp: true, signatureClock: "machine" },
  });
  let receiver: DemoReceiver | null = null;
  try {
    await emulator.start();
    receiver = await startDemoReceiver({
      verbose: verbose ?? false,
      secrets: (folder) => secretFile(join(folder, SECRETS)),
    });
    const client = createClient({ baseUrl: emulator.baseUrl, apiKey: key });
    const [account] = (await emulator.control.listAccounts()).items;
    const accountId = account?.account_id ?? 0;
    const scenario = { emulator, client, accountId, receiver, report, signal: cli.signal };
    if (!json) terminal.print("");
    report("service", true, `listens on ${emulator.url}; a receiver without a secret on ${receiver.url.href}`);
    for (const step of [follow, register, awaitVerification, letAMonthPass, sendOneAgain, tamperWithOne]) {
      throwIfInterrupted(cli.signal);
      await step(scenario);
    }
  } finally {
    await receiver?.close();
    await emulator.close();
    if (receiver !== null) await rm(receiver.folder, { recursive: true, force: true });
  }
  return isAllOk;
}

async function follow({ client, emulator, accountId, report }: Scenario): Promise<void> {
  const { items, eligible_population: eligible } = await client.rankings({ sort: "traffic", limit: FOLLOWED });
  const slugs = items.map(({ slug }) => slug);
  await emulator.control.follow({ account_id: accountId, slugs });
  const first = items[0]?.name ?? "none";
  report("follow", slugs.length === FOLLOWED, `the ${slugs.length} largest of ${eligible} products, first ${first}`);
}

/** Does what `signalbox register --all-types` does. */
async function register({ client, receiver, report }: Scenario): Promise<void> {
  const lists = readSignalTypes({ allTypes: true });
  for (const types of lists) {
    const writer = openSecretWriter(join(receiver.folder, SECRETS));
    try {
      const { signing_secret: secret } = await client.registerWebhook({ url: receiver.url.href, signal_types: types });
      writer.add(secret);
    } finally {
      writer.close();
    }
  }
  report("register", true, `${SIGNAL_TYPES.length} signal types, ${lists.length} registrations`);
}

async function awaitVerification({ emulator, receiver, report }: Scenario): Promise<void> {
  await emulator.control.settle();
  const { items } = await emulator.control.listRegistrations();
  const active = items.filter(({ status }) => status === "active").length;
  const { verified } = receiver.receiver.health().deliveries;
  report(
    "handshake",
    active === items.length && verified >= active,
    `${verified} challenges answered, ${active} registrations active`,
  );
}

async function letAMonthPass({ emulator, receiver, report, signal }: Scenario): Promise<void> {
  // Advances by single days, because the service does not send signals that are older than 24 hours.
  let sent = new Set<string>();
  for (let day = 0; day < MAX_DAYS && sent.size === 0; day++) {
    throwIfInterrupted(signal);
    await emulator.control.advance({ days: 1 });
    sent = new Set((await deliveredSignals(emulator)).map(({ event_id }) => event_id));
  }
  const { now } = await emulator.control.now();
  await receiver.settle(sent.size, signal);
  throwIfInterrupted(signal);
  const received = new Set(receiver.signals.map(({ id }) => id));
  const types = new Set(receiver.signals.map(({ data }) => data.signal_type));
  report("month", sent.size > 0, `it is ${now.slice(0, 10)}: ${sent.size} signals of ${types.size} types were sent`);
  const isOnce = received.size === receiver.signals.length;
  report(
    "callback",
    isOnce && received.size === sent.size && [...sent].every((id) => received.has(id)),
    `${receiver.signals.length} hand-offs of ${received.size} signals, ${isOnce ? "each exactly once" : "some repeated"}`,
  );
}

async function sendOneAgain({ emulator, receiver, report }: Scenario): Promise<void> {
  const before = receiver.signals.length;
  const [delivery] = await deliveredSignals(emulator);
  if (delivery === undefined) return;
  const { delivery_id } = await emulator.control.redeliver({ delivery_id: delivery.delivery_id });
  await emulator.control.settle();
  const { attempts } = await emulator.control.readDelivery({ delivery_id });
  const answer = attempts[0]?.answer;
  const isDuplicate = answer?.status === 200 && answer.body === '{"received":true,"duplicate":true}';
  const isOk = isDuplicate && receiver.signals.length === before;
  report("redeliver", isOk, `${delivery.event_id} sent again: ${answer?.status ?? "no answer"} ${answer?.body ?? ""}`);
}

async function tamperWithOne({ emulator, report }: Scenario): Promise<void> {
  const [delivery] = await deliveredSignals(emulator);
  const request = delivery?.attempts[0]?.request;
  if (delivery === undefined || request === undefined) return;
  const body = request.body.replace(delivery.event_id, `x${delivery.event_id.slice(1)}`);
  const answer = await fetch(request.url, { method: "POST", headers: headersOf(request.headers), body });
  const text = await answer.text();
  const isRefused = answer.status === 401 && text.includes('"signature_mismatch"') && body !== request.body;
  report("tamper", isRefused, `a delivery with one changed letter: ${answer.status} ${text}`);
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
