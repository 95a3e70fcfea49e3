import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createReceiver, secretFile } from "signalbox";
import { createApp } from "./app.js";
import { createQueue, enqueue } from "./queue.js";
import { runProcess } from "./run-process.js";
import { createStore } from "./store.js";

/** The receiver. It hands each signal off into the queue, from which the worker takes it. */
await runProcess(async (config, logger) => {
  const queue = createQueue(config.REDIS_URL, logger);
  const receiver = createReceiver({
    secrets: secretFile(config.SECRET_FILE),
    store: createStore(config),
    onSignal: (signal, handoff) => enqueue(queue, signal, handoff),
    logger,
  });
  receiver.on("dead", ({ deliveryKey, reason }) =>
    logger.error({ deliveryKey, reason }, "a signal is dead"),
  );
  const server = createApp(receiver).listen(config.PORT);
  await once(server, "listening");
  await receiver.start();
  const { port } = server.address() as AddressInfo;
  logger.info(`listening on http://localhost:${port}/webhooks/signals`);

  return async () => {
    // First all open requests are answered. The connections that then become idle would keep the
    // server open.
    setInterval(() => server.closeIdleConnections(), 100);
    await new Promise((resolve) => server.close(resolve));
    // Then it waits for running hand-offs. Signals that are not in the queue stay in the inbox.
    await receiver.close({ graceMs: config.SHUTDOWN_GRACE_SECONDS * 1000 });
  };
});
