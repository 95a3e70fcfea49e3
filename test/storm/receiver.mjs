// A receiver in a process of its own, on the built package and an inbox in PostgreSQL. Its one
// argument is JSON. It writes down each hand-off before it begins and after it ended.
import { openSync, writeSync } from "node:fs";
import { createServer } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { Pool } from "pg";

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
const note = (line) =>
  writeSync(file, `${JSON.stringify({ at: now(), process: name, ...line })}\n`);

// A busy machine can stop a process too.
let lastTurnAt = now();
setInterval(() => {
  const from = lastTurnAt;
  lastTurnAt = now();
  if (lastTurnAt - from > 2000) note({ at: from, say: "silenced", until: lastTurnAt });
}, 100).unref();

const pool = new Pool({
  connectionString,
  max: 4,
  // A connection that is half open stays so.
  connectionTimeoutMillis: 5000,
  query_timeout: 5000,
  // As docs/idempotent-effects.md says: a transaction whose client is gone would keep its event
  // from everybody else.
  idle_in_transaction_session_timeout: 10_000,
  // As the store's, so that faults end its connections too.
  application_name: "signalbox",
});
pool.on("error", () => {});
// Not at each checkout: a server may end a connection in the moment in which it is made.
pool.on("connect", (client) => client.on("error", () => {}));

/** Its effect is a row without a unique constraint, in the transaction that completes the event. */
async function haveEffect(id, handoff) {
  const client = await pool.connect();
  let failure;
  try {
    await client.query("BEGIN");
    await client.query(handoff.completeSql);
    await client.query("INSERT INTO effect (event_id) VALUES ($1)", [id]);
    await client.query("COMMIT");
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    client.release(failure);
  }
}

let calls = 0;
const receiver = createReceiver({
  secrets: "whsec_faults",
  store: postgresStore({ connectionString }),
  // Few, so that events wait for a slot while they are leased.
  handoff: { concurrency: 4, timeoutMs: 10_000, backoff: () => 200 },
  logger: false,
  order: { by: (signal) => signal.data.key },
  coalesce: { types: ["*"], quietMs: 200, longestMs: 1000 },
  async onSignal(signal, handoff) {
    const { attempt, possiblyRepeated, earlierCount } = handoff;
    const call = ++calls;
    const earlier = handoff.earlier.map(({ eventId }) => eventId);
    if (earlier.length !== Math.min(earlierCount, 100)) throw new Error("earlierCount is wrong");
    note({ say: "begun", call, id: signal.id, attempt, possiblyRepeated, earlier });
    // The event says how long its callback takes, how often it fails, and whether it has an effect
    // in the database.
    const [durationMs, failures, hasEffect] = signal.data.callback;
    await delay(durationMs);
    let failure = attempt > failures ? null : new Error("the queue said no");
    if (failure === null && hasEffect)
      await haveEffect(signal.id, handoff).catch((error) => (failure = error));
    note({ say: "ended", call, resolved: failure === null });
    if (failure !== null) throw failure;
  },
});

const server = createServer(nodeHandler(receiver));
process.once("SIGTERM", () => {
  server.close();
  void receiver.close({ graceMs: 500 }).then(() => process.exit());
});

await receiver.start();
server.listen(0, "127.0.0.1", () => process.send(server.address().port));
