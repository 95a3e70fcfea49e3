import { readConfig } from "./config.js";
import { createOnSignal } from "./on-signal.js";
import { runProcess } from "./run-process.js";
import { startReceiver } from "./start-receiver.js";

await runProcess(readConfig, async (config, logger) => {
  const { close } = await startReceiver(config, logger, createOnSignal(config.ALERTS_URL));
  return close;
});
