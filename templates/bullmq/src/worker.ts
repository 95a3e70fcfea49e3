import { readWorkerConfig } from "./config.js";
import { handleSignal } from "./handle-signal.js";
import { runProcess } from "./run-process.js";
import { startWorker } from "./start-worker.js";

await runProcess(readWorkerConfig, async (config, logger) => {
  const { close } = await startWorker(config, logger, (signal, context) =>
    handleSignal(signal, context, {
      url: config.ALERTS_URL,
      log: (alert) => logger.info({ alert, deliveryKey: context.deliveryKey }, "alert"),
    }),
  );
  return close;
});
