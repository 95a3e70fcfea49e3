// A receiver in a process of its own, on the built package and an inbox in PostgreSQL. Its one argument is JSON. It writes
// down each hand-off before it begins and after it ended.
import { openSync, writeSync } from "node:fs";
import { createServer } from "node:http";
import { setTimeout as delay } from "node:timers/promises";

const { name, history, connectionString, clockAheadMs } = JSON.parse(process.argv[2]);

// The clock of this machine is wrong, before signalbox is loaded.
const SystemDate = Date;
globalThis.Date = class extends SystemDate {
  static now = () => SystemDate.now() + clockAheadMs;
  constructor(...parts) {
    super(...(parts.length === 0 ? [SystemDate.now() + clockAheadMs] : parts));
  }
};
const { createReceiver } = await import("signalbox");
const { nodeHandler } = await import("signalbox/node");
const { postgresStore } = await import("signalbox/stores/postgres");

const file = openSync(history, "a");
const now = () => Number(process.hrtime.bigint()) / 1e6;
const note = (line) => writeSync(file, `${JSON.stringify({ at: now(), process: name, ...line })}\n`);

// A busy machine can stop a process too.
let lastTurnAt = now();
setInterval(() => {
  const from = lastTurnAt;
  lastTurnAt = now();
  if (lastTurnAt - from > 2000) note({ at: from, say: "silenced", until: lastTurnAt });
}, 100).unref();

let calls = 0;
const receiver = createReceiver({
  secrets: "whsec_faults",
  store: postgresStore({ connectionString }),
  // Few, so that events wait for a slot while they are leased.
  handoff: { concurrency: 4, timeoutMs: 10_000, backoff: () => 200 },
  logger: false,
  async onSignal(signal, { attempt, possiblyRepeated }) {
    const call = ++calls;
    note({ say: "begun", call, id: signal.id, attempt, possiblyRepeated });
    // The event says how long its callback takes, and how often it fails.
    const [durationMs, failures] = signal.data.callback;
    await delay(durationMs);
    const resolved = attempt > failures;
    note({ say: "ended", call, resolved });
    if (!resolved) throw new Error("the queue said no");
  },
});

const server = createServer(nodeHandler(receiver));
process.once("SIGTERM", () => {
  server.close();
  void receiver.close({ graceMs: 500 }).then(() => process.exit());
});

await receiver.start();
server.listen(0, "127.0.0.1", () => process.send(server.address().port));
