import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expressHandler } from "../../../kit/receiver/adapters/express-handler.js";
import { createReceiver } from "../../../kit/receiver/receiver.js";
import { secretFile } from "../../../kit/receiver/secrets/secret-file.js";
import type { Signal, TestEvent } from "../../../kit/senders/signals/envelope.js";
import { parseEvent } from "../../../kit/senders/signals/parse-event.js";
import { SIGNAL_TYPES } from "../../../kit/senders/signals/signal-types.js";
import { sqliteStore } from "../../../kit/stores/sqlite/sqlite-store.js";
import { createClient } from "../../../service/client/client.js";
import { advanceToNextSignals } from "../../../service/emulator/control/advance-to-next-signals.js";
import type { Cli } from "../../console/cli.js";
import { environmentError, EXIT, type ExitCode } from "../../console/exit.js";
import { formatTable, someNames } from "../../console/terminal.js";
import { readFixtureFolder } from "../../deliveries/fixture-folder.js";
import {
  failedNames,
  replayDeliveries,
  type CaseResult,
  type ReplayOptions,
} from "../../deliveries/send-cases.js";
import { describeWanted } from "../../deliveries/send-delivery.js";
import { followMostVisited, startEmulator } from "../emulator/start-emulator.js";
import { registerAllTypes } from "../register/register-webhooks.js";

const SETTLE_MS = 10_000;
const PATH = "/webhooks/signals";
/** The number of products that the account follows. They are the products with the most traffic. */
const FOLLOWED = 25;

type Report = (step: string, ok: boolean, text: string) => void;
type DemoReceiver = Awaited<ReturnType<typeof startDemoReceiver>>;

export async function runDemo(
  { keep, json, verbose }: { keep?: true; json?: true; verbose?: true },
  { terminal, signal }: Pick<Cli, "terminal" | "signal">,
): Promise<ExitCode> {
  const { print, printJson, note } = terminal;
  const { bold, green, red } = terminal.paint;
  const startedAt = performance.now();
  const failed: string[] = [];
  const report: Report = (step, ok, text) => {
    if (!ok) failed.push(step);
    if (json) return printJson({ step, text, ok });
    formatTable([[ok ? green("ok") : red("FAILED"), bold(step), text]], [0, 9]).forEach(print);
  };
  const demo = await startDemoReceiver();
  try {
    if (!json) print(bold("A month with the service"));
    const secret = await runScenario(demo, report, signal);
    if (!json) print(bold("\nDeliveries of the fixtures, good and hostile"));
    const rows = json ? "json" : verbose ? "all" : "failed";
    failed.push(...(await replayFixtures(demo, { secret, rows }, report, { terminal, signal })));
  } finally {
    await demo.close();
    if (!keep) await rm(demo.folder, { recursive: true, force: true });
  }
  const ok = failed.length === 0;
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
  if (json) {
    printJson({ summary: { ok, failed, seconds, ...(keep && { path: demo.path }) } });
  } else {
    if (keep) print(`\nThe inbox is ${demo.path}`);
    print(
      `\n${ok ? green(`The demo passed in ${seconds} s.`) : red(`The demo FAILED: ${someNames(failed)}`)}`,
    );
    note("Next:\n  $ npx signalbox init ../my-receiver\n  $ cd ../my-receiver\n  $ npm run dev");
  }
  return ok ? EXIT.ok : EXIT.failed;
}

/**
 * Starts a receiver in an Express app. It has no secret until one is written to its secret file.
 */
export async function startDemoReceiver() {
  const { default: express } = await import("express").catch(() => {
    throw environmentError("the demo needs Express: run `npm install express`");
  });
  const folder = await mkdtemp(join(tmpdir(), "signalbox-demo-"));
  const path = join(folder, "signals.db");
  const secrets = join(folder, "signals.secret");
  /** The delivery key of each hand-off. */
  const keys: string[] = [];
  const signals: Signal[] = [];
  const record = (event: Signal | TestEvent, { deliveryKey }: { deliveryKey: string }): void => {
    keys.push(deliveryKey);
    if (event.type === "signal.published") signals.push(event);
  };
  const receiver = createReceiver({
    secrets: secretFile(secrets),
    store: sqliteStore(path),
    onSignal: record,
    onTest: record,
    logger: false,
  });
  let server: Server;
  try {
    await receiver.start();
    const app = express();
    app.use(PATH, expressHandler(receiver));
    app.use(express.json());
    server = app.listen(0, "127.0.0.1");
    await once(server, "listening");
  } catch (error) {
    await receiver.close();
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
  const { port } = server.address() as AddressInfo;
  return {
    url: new URL(`http://127.0.0.1:${port}${PATH}`),
    receiver,
    folder,
    path,
    secrets,
    keys,
    signals,
    /**
     * Waits until this number of events was handed off and all are settled. After 10 s it resolves
     * nevertheless.
     */
    async settle(handedOff: number, signal: AbortSignal): Promise<void> {
      const deadline = performance.now() + SETTLE_MS;
      // Polls, because the receiver does not report when the settlements are committed.
      for (; performance.now() < deadline; await sleep(10)) {
        signal.throwIfAborted();
        const { ready, leased } = await receiver.inbox.stats();
        if (keys.length >= handedOff && ready + leased === 0) return;
      }
    },
    async close(): Promise<void> {
      server.closeAllConnections();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
      await receiver.close();
    },
  };
}

/** @param keys the delivery key of each hand-off */
function reportHandOffs(keys: readonly string[], events: number, report: Report): void {
  const isOnce = keys.length === events && new Set(keys).size === events;
  const text = `${keys.length} hand-offs of ${events} events${isOnce ? ", each once" : ""}`;
  report("callback", isOnce, text);
}

/** Registers and verifies the receiver, and lets a month pass. @returns a secret of the receiver */
export async function runScenario(
  demo: DemoReceiver,
  report: Report,
  signal: AbortSignal,
): Promise<string> {
  const apiKey = "sbk_the_key_of_this_demo";
  const emulator = await startEmulator({
    port: 0,
    accounts: [{ name: "Demo", tier: "pro", key: apiKey }],
    // The service's clock advances by a month within seconds, but the receiver uses this machine's
    // clock and would refuse signatures with timestamps of the service's clock.
    assumptions: { allowLoopbackHttp: true, signatureClock: "machine" },
  });
  try {
    const { control, baseUrl } = emulator;
    report("service", true, "an emulator, and a receiver without a secret");

    const client = createClient({ baseUrl, apiKey });
    const [account] = (await control.listAccounts()).items;
    const following = { account_id: account?.account_id ?? 0, limit: FOLLOWED };
    const { slugs, eligible } = await followMostVisited(control, client, following);
    report(
      "follow",
      slugs.length === FOLLOWED,
      `the ${slugs.length} largest of ${eligible} products`,
    );

    const where = { url: demo.url.href, secretFile: demo.secrets };
    const made = await registerAllTypes(client, where);
    const registered = `${SIGNAL_TYPES.length} signal types, in ${made.length} registrations`;
    report("register", true, registered);

    await control.settle();
    const { items: registrations } = await control.listRegistrations();
    const active = registrations.filter(({ status }) => status === "active").length;
    const isVerified =
      active === made.length && demo.receiver.health().deliveries.verified >= active;
    report("handshake", isVerified, `${active} of ${registrations.length} registrations verified`);
    signal.throwIfAborted();

    const { now } = await advanceToNextSignals(control, signal);
    signal.throwIfAborted();
    const { items: deliveries } = await control.listDeliveries({ state: "delivered", limit: 500 });
    const signals = deliveries.filter(({ event_type }) => event_type === "signal.published");
    const sent = new Set(signals.map(({ event_id }) => event_id)).size;
    await demo.settle(sent, signal);
    const types = new Set(demo.signals.map(({ data }) => data.signal_type));
    report("month", sent > 0, `it is ${now.slice(0, 10)}: ${sent} signals of ${types.size} types`);
    reportHandOffs(demo.keys, sent, report);
    return made.at(-1)?.signing_secret ?? "";
  } finally {
    await emulator.close();
  }
}

type Kind = readonly [step: string, wanted: RegExp, what: string];

const ACCEPTED = /received$/;

/** Each delivery is of the one kind whose pattern matches the answer that is expected. */
const KINDS: readonly Kind[] = [
  ["accepted", ACCEPTED, `signals of ${SIGNAL_TYPES.length} types, and test events`],
  ["duplicate", /duplicate$/, "events that were accepted before"],
  ["challenge", /challenge$/, "verifications"],
  ["unusable", /quarantined$/, "events, kept in the quarantine"],
  ["forged", /^401/, "without a valid signature"],
  ["refused", /^4(?!01)/, "too big, zipped or not POST"],
];

/** @returns the names of the deliveries whose answers were not as expected */
export async function replayFixtures(
  demo: DemoReceiver,
  { secret, rows }: { secret: string; rows: ReplayOptions["rows"] },
  report: Report,
  { terminal, signal }: Pick<Cli, "terminal" | "signal">,
): Promise<string[]> {
  const { deliveries, events } = readFixtureFolder();
  const before = demo.keys.length;
  const keptBefore = (await demo.receiver.inbox.stats()).quarantined;
  const target = { url: demo.url, secrets: [secret], events, timeoutMs: 15_000, signal };
  const results = await replayDeliveries(target, deliveries, { rows }, terminal);
  const kept = (await demo.receiver.inbox.stats()).quarantined - keptBefore;
  for (const [step, wanted, what] of KINDS) {
    const ofKind = results.filter((result) => wanted.test(wantedOf(result)));
    const statuses = new Set(
      ofKind.map(({ answer }) => (answer.kind === "answer" ? answer.status : "no answer")),
    );
    const isKept = step !== "unusable" || kept === ofKind.length;
    const isOk = ofKind.length > 0 && ofKind.every(({ ok }) => ok) && isKept;
    report(step, isOk, `${ofKind.length} ${what}: ${[...statuses].join(", ")}`);
  }
  const accepted = results.filter((result) => result.ok && ACCEPTED.test(wantedOf(result))).length;
  await demo.settle(before + accepted, signal);
  reportHandOffs(demo.keys.slice(before), accepted, report);
  return failedNames(results);
}

/** An event of an unknown type is answered like a known one, but it is quarantined. */
function wantedOf({ expected, sent }: CaseResult): string {
  const wanted = describeWanted("exact", expected);
  return wanted === "200 received" && parseEvent(sent).kind === "unknown"
    ? "200 quarantined"
    : wanted;
}
