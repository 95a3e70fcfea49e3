import { pino, type Logger } from "pino";

/** The host's logger, silence, or one of our own. */
export function createLogger(logger: Logger | false | undefined): Logger {
  if (logger === false) return pino({ enabled: false });
  return logger ?? pino({ name: "signalbox" });
}
