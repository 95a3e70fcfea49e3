import { onSignal } from "./on-signal.js";
import { runProcess } from "./run-process.js";
import { startWorker } from "./start-worker.js";

/** The worker. It takes the jobs, and does the work for each signal once. */
await runProcess(async (config, logger) => {
  const { close } = startWorker(config, logger, onSignal);
  return close;
});
