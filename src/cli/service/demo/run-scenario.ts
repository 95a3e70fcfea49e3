import { createClient } from "../../../service/client/client.js";
import { advanceToNextSignals } from "../../../service/emulator/control/advance-to-next-signals.js";
import { createEmulator } from "../../../service/emulator/instance/create-emulator.js";
import { SIGNAL_TYPES } from "../../../kit/senders/signals/signal-types.js";
import { registerAllTypes } from "../register/register-all-types.js";
import type { DemoReceiver } from "./demo-receiver.js";
import { reportHandOffs, type Report } from "./report-steps.js";

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
