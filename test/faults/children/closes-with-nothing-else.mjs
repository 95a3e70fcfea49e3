// Drains and closes while nothing else keeps the process alive: a callback that waits for nothing
// and, if asked to, a count.
import { createReceiver } from "signalbox";
import { sqliteStore } from "signalbox/stores/sqlite";
import { signalEvent, signedDelivery } from "signalbox/testing";

const secret = "whsec_faults";
let begin;
const begun = new Promise((resolve) => (begin = resolve));
const receiver = createReceiver({
  secrets: secret,
  store: sqliteStore(process.argv[2]),
  onSignal() {
    begin();
    return new Promise(() => {});
  },
  logger: false,
});
await receiver.start();
const { headers, body } = signedDelivery(signalEvent(), { secret });
await receiver.handle({ method: "POST", headers, body });
await begun;
if (process.argv[3] === "counting") void receiver.inbox.stats();
console.log(await receiver.drain({ timeoutMs: 200 }));
await receiver.close({ graceMs: 200 });
console.log("closed");
