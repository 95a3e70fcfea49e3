import { rm } from "node:fs/promises";
import { join } from "node:path";
import { createClient, type Client } from "../../../client/client.js";
import { createEmulator, type Emulator } from "../../../emulator/instance/create-emulator.js";
import { SIGNAL_TYPES } from "../../../events/signal-types.js";
import { secretFile } from "../../../receiver/secret-file.js";
import type { Cli } from "../../console/cli.js";
import type { Terminal } from "../../console/terminal.js";
import { throwIfInterrupted } from "../../options/define-command.js";
import { openSecretWriter } from "../register/secret-writer.js";
import { MOST_SIGNAL_TYPES } from "../register/signal-type-list.js";
import { startDemoReceiver, type DemoReceiver } from "./demo-receiver.js";

/** So many products are followed, those with the most visits. */
const FOLLOWED = 25;
const SECRETS = "signals.secret";
/** A month's figures come some days after its end. */
const DAYS_AT_MOST = 40;

interface Stage {
  emulator: Emulator;
  client: Client;
  accountId: number;
  receiver: DemoReceiver;
  say: ReturnType<typeof reportStory>["say"];
  /** Aborts on Ctrl-C. */
  signal: AbortSignal;
}

/**
 * The whole service beside a receiver: register, be verified, let a month pass, get its signals, have one sent again and
 * one tampered with, and look up the product behind one.
 *
 * @returns whether all went as it should
 */
export async function tellStory(options: { json?: boolean; verbose?: true }, cli: Cli): Promise<boolean> {
  const report = reportStory(cli.terminal, options.json ?? false);
  const { say } = report;
  const key = "sbk_the_demo_speaks_to_itself";
  const emulator = createEmulator({
    port: 0,
    accounts: [{ name: "Demo", tier: "pro", key }],
    // The receiver uses this machine's clock, although a month of the service passes within seconds.
    assumptions: { allowLoopbackHttp: true, signatureClock: "machine" },
  });
  let receiver: DemoReceiver | null = null;
  try {
    await emulator.start();
    receiver = await startDemoReceiver({
      verbose: options.verbose ?? false,
      secrets: (folder) => secretFile(join(folder, SECRETS)),
    });
    const client = createClient({ baseUrl: emulator.baseUrl, apiKey: key });
    const [account] = (await emulator.control.listAccounts()).items;
    const stage = { emulator, client, accountId: account?.account_id ?? 0, receiver, say, signal: cli.signal };
    say("service", true, `listens on ${emulator.url}; a receiver without a secret on ${receiver.url.href}`);
    for (const scene of [follow, register, beVerified, letAMonthPass, sendOneAgain, tamperWithOne, lookUpTheProduct]) {
      throwIfInterrupted(cli.signal);
      await scene(stage);
    }
  } finally {
    await receiver?.close();
    await emulator.close();
    if (receiver !== null) await rm(receiver.folder, { recursive: true, force: true });
  }
  return report.isTrue;
}

async function follow({ client, emulator, accountId, say }: Stage): Promise<void> {
  const { items, eligible_population: eligible } = await client.rankings({ sort: "traffic", limit: FOLLOWED });
  const slugs = items.map(({ slug }) => slug);
  await emulator.control.follow({ account_id: accountId, slugs });
  const first = items[0]?.name ?? "none";
  say("follow", slugs.length === FOLLOWED, `the ${slugs.length} largest of ${eligible} products, first ${first}`);
}

/** As `signalbox register --all-types` does. */
async function register({ client, receiver, say }: Stage): Promise<void> {
  const ids: string[] = [];
  for (let from = 0; from < SIGNAL_TYPES.length; from += MOST_SIGNAL_TYPES) {
    const writer = openSecretWriter(join(receiver.folder, SECRETS));
    try {
      const registration = await client.registerWebhook({
        url: receiver.url.href,
        signal_types: SIGNAL_TYPES.slice(from, from + MOST_SIGNAL_TYPES),
      });
      writer.add(registration.signing_secret);
      ids.push(registration.id);
    } finally {
      writer.close();
    }
  }
  say("register", ids.length === 2, `${SIGNAL_TYPES.length} signal types, ${ids.length} registrations`);
}

async function beVerified({ emulator, receiver, say }: Stage): Promise<void> {
  await emulator.control.settle();
  const { items } = await emulator.control.listRegistrations();
  const active = items.filter(({ status }) => status === "active").length;
  const { verified } = receiver.receiver.health().deliveries;
  say("handshake", active === 2 && verified >= 2, `${verified} challenges answered, ${active} registrations active`);
}

async function letAMonthPass({ emulator, receiver, say, signal }: Stage): Promise<void> {
  // By days, and no further than the day of the new figures: what is older than 24 hours is not sent again.
  let sent = new Set<string>();
  for (let day = 0; day < DAYS_AT_MOST && sent.size === 0; day++) {
    throwIfInterrupted(signal);
    await emulator.control.advance({ days: 1 });
    sent = new Set((await deliveredSignals(emulator)).map(({ event_id }) => event_id));
  }
  const { now } = await emulator.control.now();
  await receiver.settle(sent.size, signal);
  throwIfInterrupted(signal);
  const got = new Set(receiver.signals.map(({ id }) => id));
  const types = new Set(receiver.signals.map(({ data }) => data.signal_type));
  say("month", sent.size > 0, `it is ${now.slice(0, 10)}: ${sent.size} signals of ${types.size} types were sent`);
  const isOnce = got.size === receiver.signals.length;
  say(
    "callback",
    isOnce && got.size === sent.size && [...sent].every((id) => got.has(id)),
    `${receiver.signals.length} hand-offs of ${got.size} signals, ${isOnce ? "each exactly once" : "some repeated"}`,
  );
}

async function sendOneAgain({ emulator, receiver, say }: Stage): Promise<void> {
  const before = receiver.signals.length;
  const [delivery] = await deliveredSignals(emulator);
  if (delivery === undefined) return;
  const { delivery_id } = await emulator.control.redeliver({ delivery_id: delivery.delivery_id });
  await emulator.control.settle();
  const { attempts } = await emulator.control.readDelivery({ delivery_id });
  const answer = attempts[0]?.answer;
  const isDuplicate = answer?.status === 200 && answer.body === '{"received":true,"duplicate":true}';
  const isOk = isDuplicate && receiver.signals.length === before;
  say("redeliver", isOk, `${delivery.event_id} once more: ${answer?.status ?? "no answer"} ${answer?.body ?? ""}`);
}

async function tamperWithOne({ emulator, say }: Stage): Promise<void> {
  const request = (await deliveredSignals(emulator))[0]?.attempts[0]?.request;
  if (request === undefined) return;
  const body = request.body.replace("up", "UP");
  const answer = await fetch(request.url, { method: "POST", headers: headersOf(request.headers), body });
  const text = await answer.text();
  const isRefused = answer.status === 401 && text.includes('"signature_mismatch"') && body !== request.body;
  say("tamper", isRefused, `two letters of it changed: ${answer.status} signature_mismatch`);
}

async function lookUpTheProduct({ client, receiver, say }: Stage): Promise<void> {
  const signal = receiver.signals.at(-1);
  if (signal === undefined) return;
  const product = await client.productProfile(signal.data.product.slug);
  const isSame = product.tool_id === signal.data.product.id;
  say("product", isSame, `"${signal.data.title}": ${product.name}, ${product.tagline ?? product.official_url}`);
}

async function deliveredSignals({ control }: Emulator) {
  const { items } = await control.listDeliveries({ state: "delivered", limit: 500 });
  return items.filter(({ event_type }) => event_type === "signal.published");
}

/** Those that `fetch` does not set itself. */
function headersOf(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !/^(content-length|host|connection)$/i.test(name)),
  );
}

/** Prints the steps of the story as they come. */
function reportStory(terminal: Terminal, asJson: boolean) {
  const { paint } = terminal;
  let isTrue = true;
  let isFirst = true;
  return {
    say(step: string, isOk: boolean, text: string): void {
      isTrue &&= isOk;
      if (asJson) return terminal.printJson({ step, text, ok: isOk });
      if (isFirst) terminal.print("");
      isFirst = false;
      const verdict = isOk ? paint.green("ok") : paint.red("FAILED");
      terminal.print(`${paint.bold(step.padEnd(9))}  ${text}  ${verdict}`);
    },
    /** All so far went as it should. */
    get isTrue(): boolean {
      return isTrue;
    },
  };
}
