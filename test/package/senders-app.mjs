// One Express app with the service and two senders over one inbox. It prints a line of JSON for
// each hand-off.
import express from "express";
import { createReceiver } from "signalbox";
import { expressHandler } from "signalbox/express";
import { github, stripe } from "signalbox/senders";

const { POSTGRES, SCHEMA, HANGS } = process.env;
const store = await (POSTGRES === undefined
  ? import("signalbox/stores/sqlite").then(({ sqliteStore }) => sqliteStore("inbox.db"))
  : import("signalbox/stores/postgres").then(({ postgresStore }) =>
      postgresStore({ connectionString: POSTGRES, schema: SCHEMA }),
    ));

const told = (event, { deliveryKey, sender, headers, rawBody }) => {
  const { id, ref } = event;
  process.stdout.write(
    `${JSON.stringify({ deliveryKey, sender, headers, id, ref, bytes: rawBody.byteLength })}\n`,
  );
  // With a concurrency of 1, what comes after the first is not handed off.
  return HANGS === undefined ? undefined : new Promise(() => undefined);
};
const options = { store, logger: false, handoff: { concurrency: 1 } };
const receivers = {
  signals: createReceiver({ ...options, secrets: "whsec_signals", onSignal: told }),
  stripe: createReceiver({
    ...options,
    sender: stripe(),
    endpoint: "stripe",
    secrets: "whsec_stripe",
    onEvent: told,
  }),
  github: createReceiver({
    ...options,
    sender: github(),
    endpoint: "github",
    secrets: "gh",
    onEvent: { push: told },
  }),
};
const app = express();
for (const [name, receiver] of Object.entries(receivers)) {
  await receiver.start();
  app.use(`/webhooks/${name}`, expressHandler(receiver));
}
app.use(express.json());
app.listen(0);
