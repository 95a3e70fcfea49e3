import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { Logger } from "pino";
import { createReceiver, type HandoffCallback, type Signal } from "signalbox";
import { sqliteStore } from "signalbox/stores/sqlite";
import { createApp } from "./app.js";
import type { Config } from "./config.js";

export interface RunningReceiver {
  port: number;
  /** Refuses new deliveries, waits for callbacks, and closes the inbox. Signals that are not done stay in the inbox. */
  close(): Promise<void>;
}

export async function startReceiver(
  config: Config,
  logger: Logger,
  onSignal: HandoffCallback<Signal>,
): Promise<RunningReceiver> {
  const secrets = [config.SIGNALS_SECRET, config.SIGNALS_SECRET_NEXT].filter((secret) => secret !== undefined);
  const store = sqliteStore(config.INBOX_PATH);
  const receiver = createReceiver({ secrets, store, onSignal, logger });
  receiver.on("dead", ({ deliveryKey, reason }) => logger.error({ deliveryKey, reason }, "a signal is dead"));
  await receiver.start();
  const close = (): Promise<void> => receiver.close({ graceMs: config.SHUTDOWN_GRACE_SECONDS * 1000 });

  const server = createApp(receiver, logger).listen(config.PORT);
  try {
    await once(server, "listening");
  } catch (error) {
    await close();
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE") {
      const fix = "end the program that uses it, or set PORT to another port";
      throw new Error(`port ${config.PORT} is in use: ${fix}`, { cause: error });
    }
    throw error;
  }
  const { port } = server.address() as AddressInfo;
  logger.info(`listening on http://localhost:${port}/webhooks/signals`);
  return {
    port,
    async close() {
      server.close();
      await close();
      // Idle keep-alive connections would keep the process alive.
      server.closeAllConnections();
    },
  };
}
