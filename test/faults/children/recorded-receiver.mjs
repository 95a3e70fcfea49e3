// A receiver in a process of its own, on the built package, that sends to itself: each answer is
// noted in a file of the recorded folder in the moment in which it could go out. Its one argument
// is JSON.
import { createHash } from "node:crypto";
import fs, { appendFileSync, openSync } from "node:fs";
import { register, syncBuiltinESMExports } from "node:module";
import { setImmediate as nextTurn } from "node:timers/promises";
import { signalEvent, signedDelivery } from "signalbox/testing";

const {
  db,
  marks,
  /** Numbers of the events: each id follows from its number, and so do the bytes. */
  from,
  to,
  connections,
  /**
   * Every so many events there is one of 20 to 60 KB, and every so many deliveries a repeated one.
   */
  largeEvery = 60,
  repeatEvery = 5,
  /** Each has a receiver of its own, all on one store. Events go round. */
  endpoints = ["default"],
  fault = "none",
} = JSON.parse(process.argv[2]);

if (fault === "acknowledge before the sync") {
  const { fdatasync } = fs;
  fs.fdatasync = (descriptor, done) => {
    fdatasync(descriptor, () => {});
    setImmediate(done, null);
  };
  syncBuiltinESMExports();
}

if (fault === "answer by its own sync") register("./answer-by-own-sync.mjs", import.meta.url);

// Afterwards, so that a fault reaches what they import.
const { createReceiver } = await import("signalbox");
const { sqliteStore } = await import("signalbox/stores/sqlite");

const marksDescriptor = openSync(marks, "a");
const mark = (what, id, detail = "") =>
  appendFileSync(marksDescriptor, `${what} ${id} ${detail}\n`);

function deliveryOf(number) {
  const at = "2026-01-31T12:00:00.000Z";
  const bytes =
    number % largeEvery === 0 ? 20_000 + ((number * 7919) % 40_000) : (number * 37) % 900;
  const event = signalEvent({
    id: `sig_${number}`,
    created_at: at,
    data: {
      signal_id: number,
      observed_at: at,
      published_at: at,
      summary: `${number} `.repeat(bytes / 5),
    },
  });
  return { id: event.id, ...signedDelivery(event, { secret: "whsec_faults" }) };
}

const store = sqliteStore(db);
const receivers = endpoints.map((endpoint) => {
  const receiver = createReceiver({
    secrets: "whsec_faults",
    store,
    endpoint,
    ackTimeoutMs: 15_000,
    logger: false,
    onSignal: ({ id }, { possiblyRepeated }) =>
      mark("begun", id, possiblyRepeated ? "repeated" : ""),
  });
  receiver.on("handedOff", ({ eventId }) => mark("handedOff", eventId));
  return receiver;
});

let next = from;
let sent = 0;
async function sendOneAfterAnother() {
  while (next < to) {
    const number =
      sent++ % repeatEvery === repeatEvery - 1 ? Math.max(1, next - 1 - (sent % 7)) : next++;
    const { id, headers, body } = deliveryOf(number);
    const request = { method: "POST", headers: lowerCased(headers), body };
    for (let status = 503; status === 503;) {
      // As over HTTP, where nothing arrives without a turn of the loop.
      await nextTurn();
      ({ status } = await receivers[number % receivers.length].handle(request));
      if (status >= 200 && status < 300)
        mark("acknowledged", id, createHash("sha256").update(body).digest("hex"));
    }
  }
}

function lowerCased(headers) {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}

await Promise.all(receivers.map((receiver) => receiver.start()));
await Promise.all(Array.from({ length: connections }, sendOneAfterAnother));
await Promise.all(receivers.map((receiver) => receiver.close({ graceMs: 10_000 })));
