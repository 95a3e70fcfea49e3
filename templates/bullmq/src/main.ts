import { readConfig } from "./config.js";
import { createOnSignal } from "./on-signal.js";
import { runProcess } from "./run-process.js";
import { createSignalQueue } from "./signal-queue.js";
import { startReceiver } from "./start-receiver.js";

await runProcess(readConfig, async (config, logger) => {
  const queue = createSignalQueue(config.REDIS_URL, logger);
  const receiver = await startReceiver(config, logger, createOnSignal(queue));
  return async () => {
    await receiver.close();
    // Without Redis, closing fails. That is harmless, because the inbox keeps the signals that are not done.
    await queue.close().catch((error: unknown) => logger.warn({ err: error }, "Redis"));
  };
});
