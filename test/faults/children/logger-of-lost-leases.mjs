/** A lost lease is reported in the log only. */
export function loggerOfLostLeases(report) {
  const silent = () => {};
  const logger = {
    child: () => logger,
    trace: silent,
    debug: silent,
    info: silent,
    warn: ({ eventId }, line) => line.startsWith("a lease ran out") && report(eventId),
    error: silent,
    fatal: silent,
  };
  return logger;
}
