import type { RequestListener } from "node:http";
import { join } from "node:path";
import { createReceiver, type Receiver, type ReceiverOptions } from "signalbox";
import { sqliteStore } from "signalbox/stores/sqlite";
import { SECRET } from "./endpoint.js";
import { serve, serverConfig } from "./serve.js";

/**
 * Serves the receiver that all of our servers share: on a file by default, with a hand-off that
 * only counts.
 */
export async function serveOurs(
  makeListener: (receiver: Receiver) => RequestListener | Promise<RequestListener>,
  options: Partial<ReceiverOptions> = {},
): Promise<void> {
  let handedOff = 0;
  const receiver = createReceiver({
    secrets: SECRET,
    store: options.store ?? sqliteStore(join(serverConfig().folder, "inbox.db")),
    logger: false,
    onSignal: async () => {
      handedOff += 1;
    },
    telemetry: options.telemetry,
  });
  await receiver.start();
  serve({
    listener: await makeListener(receiver),
    handedOff: () => handedOff,
    close: () => receiver.close({ graceMs: 20_000 }),
  });
}
