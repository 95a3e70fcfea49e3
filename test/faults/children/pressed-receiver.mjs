// A receiver in a process of its own, on the built package, that reports how much memory it takes.
// Its one argument is JSON; it is asked over IPC. Run with --expose-gc.
import { createServer } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createReceiver } from "signalbox";
import { nodeHandler } from "signalbox/node";
import { memoryStore } from "signalbox/stores/memory";
import { sqliteStore } from "signalbox/stores/sqlite";

const { db = null, options = {} } = JSON.parse(process.argv[2]);

let openGate = () => {};
let gate = Promise.resolve();
const store = db === null ? memoryStore() : sqliteStore(db);

const receiver = createReceiver({
  secrets: "whsec_faults",
  // A store that hangs on demand: its commits begin when it goes on.
  store: {
    ...store,
    async commit(batch) {
      await gate;
      return store.commit(batch);
    },
  },
  onSignal() {},
  logger: false,
  ...options,
});
const counts = {};
const count = (name) => (counts[name] = (counts[name] ?? 0) + 1);
receiver.on("accepted", () => count("accepted"));
receiver.on("rejected", ({ code }) => count(code));

const handle = nodeHandler(receiver);
const server = createServer((request, response) => {
  count("request");
  handle(request, response);
});
let connections = 0;
server.on("connection", (socket) => {
  connections += 1;
  socket.once("close", () => (connections -= 1));
});
// Nothing here is to end because a busy machine took its time.
server.requestTimeout = 0;
server.keepAliveTimeout = 600_000;

const ANSWERS = new Map([
  [
    "report",
    async () => {
      // What the last turn let go of is garbage only now.
      await nextTurn();
      globalThis.gc();
      globalThis.gc();
      const { rss, heapUsed, arrayBuffers } = process.memoryUsage();
      const { queued } = receiver.health();
      return {
        rss,
        heapUsed,
        arrayBuffers,
        connections,
        counts,
        queued,
      };
    },
  ],
  ["hang", () => void (gate = new Promise((resolve) => (openGate = resolve)))],
  ["go on", () => openGate()],
]);
process.on("message", (question) => {
  void Promise.resolve(ANSWERS.get(question)()).then((answer = null) => process.send({ answer }));
});
process.once("disconnect", () => process.exit());

await receiver.start();
server.listen({ port: 0, host: "127.0.0.1", backlog: 2000 }, () =>
  process.send({ port: server.address().port }),
);
