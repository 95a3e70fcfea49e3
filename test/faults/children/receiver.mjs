// A receiver in a process of its own, on the built package. Its one argument is JSON. On stdout it
// says one line of JSON for each thing that a test may wait for; a callback that begins is also
// noted in a file, since that survives kill -9.
import { appendFileSync } from "node:fs";
import { once } from "node:events";
import { createServer } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createReceiver } from "signalbox";
import { nodeHandler } from "signalbox/node";
import { postgresStore } from "signalbox/stores/postgres";
import { sqliteStore } from "signalbox/stores/sqlite";
import { acknowledgeBeforeCommit } from "./acknowledge-before-commit.mjs";

const {
  db,
  postgres,
  log,
  shared = false,
  clockAheadMs = 0,
  fault = "none",
} = JSON.parse(process.argv[2]);

const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

// A signal waits for a process that is stopped, so a test can stop it in the middle of a callback,
// however busy it is.
const released = once(process, "SIGUSR2");

/** What the callback does with an event is written in the event's title. */
const CALLBACKS = new Map([
  ["fine", () => nextTurn()],
  ["slow", () => new Promise((resolve) => setTimeout(resolve, 200))],
  ["hangs", () => new Promise(() => {})],
  ["waits", () => released],
  ["exits", () => process.exit(3)],
]);

const store = postgres === undefined ? sqliteStore({ path: db, shared }) : postgresStore(postgres);
/**
 * The process ends when the first event is written and not synced yet: no delivery was answered.
 */
function exitInCommit() {
  return {
    ...store,
    commit(batch) {
      const committed = store.commit(batch);
      if (batch.accepts.length > 0) process.exit(4);
      return committed;
    },
  };
}
const STORES = new Map([
  ["acknowledge before commit", () => acknowledgeBeforeCommit(store)],
  ["exit in a commit", exitInCommit],
]);
/** The system's clock, so much ahead: another process's lease is over, without the wait. */
const clock = {
  now: () => Date.now() + clockAheadMs,
  elapsed: () => performance.now(),
  setTimeout(callback, delayMs) {
    const timer = setTimeout(() => callback(), delayMs).unref();
    return { cancel: () => clearTimeout(timer) };
  },
};
/** A lost lease is reported in the log only. */
const silent = () => {};
const warn = ({ eventId }, line) =>
  line.startsWith("a lease expired") && say({ say: "leaseLost", id: eventId });
const logger = {
  child: () => logger,
  trace: silent,
  debug: silent,
  info: silent,
  warn,
  error: silent,
  fatal: silent,
};

const receiver = createReceiver({
  secrets: "whsec_faults",
  store: STORES.get(fault)?.() ?? store,
  // On a slow machine a late answer is no failure.
  ackTimeoutMs: 15_000,
  handoff: { backoff: () => 1 },
  clock,
  logger,
  onSignal(signal, given) {
    const { deliveryKey, possiblyRepeated, replayed, attempt } = given;
    appendFileSync(log, `${deliveryKey} ${possiblyRepeated} ${attempt}\n`);
    say({ say: "begun", id: signal.id, possiblyRepeated, replayed, attempt });
    return CALLBACKS.get(signal.data.title)(signal, given);
  },
});
receiver.on("handedOff", ({ eventId }) => say({ say: "handedOff", id: eventId }));
// A listener that throws is caught; the host's own mistakes are not ours to catch.
if (fault === "uncaught exception") {
  receiver.on("accepted", () =>
    process.nextTick(() => {
      throw new Error("a mistake of the host");
    }),
  );
}

const handle = nodeHandler(receiver);
const server = createServer((request, response) => {
  if (request.method === "GET") {
    response.end(JSON.stringify(receiver.health()));
    return;
  }
  say({ say: "request" });
  if (fault === "exit after the answer") response.once("finish", () => process.exit(0));
  handle(request, response);
});

async function close() {
  server.close();
  await receiver.close({ graceMs: 0 });
  // What is still connected is idle, or got the answer that we are closing.
  server.closeAllConnections();
  say({ say: "closed" });
}
process.once("SIGTERM", () => void close());

try {
  await receiver.start();
  server.listen(0, "127.0.0.1", () => say({ say: "ready", port: server.address().port }));
} catch (error) {
  say({ say: "refused", code: error.code });
}
