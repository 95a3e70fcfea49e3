import { parseEvent } from "../../../kit/senders/signals/parse-event.js";
import { SIGNAL_TYPES } from "../../../kit/senders/signals/signal-types.js";
import { createClient } from "../../../service/client/client.js";
import { advanceToNextSignals } from "../../../service/emulator/control/advance-to-next-signals.js";
import { createEmulator } from "../../../service/emulator/instance/create-emulator.js";
import type { Cli } from "../../console/cli.js";
import { formatTable, type Terminal } from "../../console/terminal.js";
import { readFixtureFolder } from "../../deliveries/fixture-folder.js";
import {
  failedNames,
  replayDeliveries,
  type CaseResult,
  type ReplayOptions,
} from "../../deliveries/send-cases.js";
import { describeWanted } from "../../deliveries/send-delivery.js";
import { registerAllTypes } from "../register/register-webhooks.js";
import type { DemoReceiver } from "./demo-receiver.js";

export type Report = (step: string, ok: boolean, text: string) => void;

export function reportSteps(
  { paint, print, printJson }: Terminal,
  json: boolean,
  failed: string[],
): Report {
  return (step, ok, text) => {
    if (!ok) failed.push(step);
    if (json) return printJson({ step, text, ok });
    const verdict = ok ? paint.green("ok") : paint.red("FAILED");
    formatTable([[verdict, paint.bold(step), text]], [0, 9]).forEach(print);
  };
}

/** @param keys the delivery key of each hand-off */
export function reportHandOffs(keys: readonly string[], events: number, report: Report): void {
  const isOnce = keys.length === events && new Set(keys).size === events;
  report(
    "callback",
    isOnce,
    `${keys.length} hand-offs of ${events} events${isOnce ? ", each once" : ""}`,
  );
}

/** The number of products that the account follows. They are the products with the most traffic. */
const FOLLOWED = 25;

/** Registers and verifies the receiver, and lets a month pass. @returns a secret of the receiver */
export async function runScenario(
  receiver: DemoReceiver,
  report: Report,
  signal: AbortSignal,
): Promise<string> {
  const key = "sbk_the_key_of_this_demo";
  const emulator = createEmulator({
    port: 0,
    accounts: [{ name: "Demo", tier: "pro", key }],
    // The service's clock advances by a month within seconds, but the receiver uses this machine's
    // clock and would refuse signatures with timestamps of the service's clock.
    assumptions: { allowLoopbackHttp: true, signatureClock: "machine" },
  });
  try {
    await emulator.start();
    const { control } = emulator;
    report("service", true, "an emulator, and a receiver without a secret");

    const client = createClient({ baseUrl: emulator.baseUrl, apiKey: key });
    const [account] = (await control.listAccounts()).items;
    const { items, eligible_population: eligible } = await client.rankings({
      sort: "traffic",
      limit: FOLLOWED,
    });
    await control.follow({
      account_id: account?.account_id ?? 0,
      slugs: items.map(({ slug }) => slug),
    });
    report(
      "follow",
      items.length === FOLLOWED,
      `the ${items.length} largest of ${eligible} products`,
    );

    const made = await registerAllTypes(client, {
      url: receiver.url.href,
      secretFile: receiver.secrets,
    });
    report(
      "register",
      true,
      `${SIGNAL_TYPES.length} signal types, in ${made.length} registrations`,
    );

    await control.settle();
    const { items: registrations } = await control.listRegistrations();
    const active = registrations.filter(({ status }) => status === "active").length;
    const { verified } = receiver.receiver.health().deliveries;
    const isVerified = active === made.length && verified >= active;
    report("handshake", isVerified, `${active} of ${registrations.length} registrations verified`);
    signal.throwIfAborted();

    const { now } = await advanceToNextSignals(control, signal);
    signal.throwIfAborted();
    const { items: deliveries } = await control.listDeliveries({ state: "delivered", limit: 500 });
    const signals = deliveries.filter(({ event_type }) => event_type === "signal.published");
    const sent = new Set(signals.map(({ event_id }) => event_id)).size;
    await receiver.settle(sent, signal);
    signal.throwIfAborted();
    const types = new Set(receiver.signals.map(({ data }) => data.signal_type));
    report("month", sent > 0, `it is ${now.slice(0, 10)}: ${sent} signals of ${types.size} types`);
    reportHandOffs(receiver.keys, sent, report);
    return made.at(-1)?.signing_secret ?? "";
  } finally {
    await emulator.close();
  }
}

/** @returns the names of the deliveries whose answers were not as expected */
export async function replayFixtures(
  receiver: DemoReceiver,
  { secret, rows }: { secret: string; rows: ReplayOptions["rows"] },
  report: Report,
  { terminal, signal }: Pick<Cli, "terminal" | "signal">,
): Promise<string[]> {
  const { deliveries, events } = readFixtureFolder();
  const before = receiver.keys.length;
  const keptBefore = (await receiver.receiver.inbox.stats()).quarantined;
  const target = { url: receiver.url, secrets: [secret], events, timeoutMs: 15_000, signal };
  const results = await replayDeliveries(target, deliveries, { rows }, terminal);
  const kept = (await receiver.receiver.inbox.stats()).quarantined - keptBefore;
  for (const kind of KINDS) reportKind(kind, results, kept, report);
  const accepted = results.filter((result) => result.ok && ACCEPTED.test(wantedOf(result))).length;
  await receiver.settle(before + accepted, signal);
  signal.throwIfAborted();
  reportHandOffs(receiver.keys.slice(before), accepted, report);
  return failedNames(results);
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

/** @param kept how many events were added to the quarantine */
function reportKind(
  [step, wanted, what]: Kind,
  results: readonly CaseResult[],
  kept: number,
  report: Report,
): void {
  const ofKind = results.filter((result) => wanted.test(wantedOf(result)));
  const statuses = new Set(
    ofKind.map(({ answer }) => (answer.kind === "answer" ? answer.status : "no answer")),
  );
  const isKept = step !== "unusable" || kept === ofKind.length;
  const isOk = ofKind.length > 0 && ofKind.every(({ ok }) => ok) && isKept;
  report(step, isOk, `${ofKind.length} ${what}: ${[...statuses].join(", ")}`);
}

/** An event of an unknown type is answered like a known one, but it is quarantined. */
function wantedOf({ expected, sent }: CaseResult): string {
  const wanted = describeWanted("exact", expected);
  return wanted === "200 received" && parseEvent(sent).kind === "unknown"
    ? "200 quarantined"
    : wanted;
}
