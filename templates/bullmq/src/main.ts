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
    // Without Redis there is nothing to close, and it is no failure: the inbox keeps the signals that were not handed off.
    await queue.close().catch((error: unknown) => logger.warn({ err: error }, "Redis"));
  };
});
