import { ServiceError } from "./service-error.js";

/** Runs calls until it is closed, so that no call uses a closed database. */
export type ShutdownGate = ReturnType<typeof createShutdownGate>;

export function createShutdownGate() {
  const running = new Set<Promise<unknown>>();
  let isClosed = false;
  return {
    get isClosed() {
      return isClosed;
    },
    /** @throws ServiceError DATA_UNAVAILABLE after `close` was called */
    async run<Result>(work: () => Result | Promise<Result>): Promise<Result> {
      if (isClosed)
        throw new ServiceError("DATA_UNAVAILABLE", "The emulator is being reset or closed.");
      const call = Promise.resolve().then(work);
      running.add(call);
      try {
        return await call;
      } finally {
        running.delete(call);
      }
    },
    /** Resolves when all running calls are done. */
    async close() {
      isClosed = true;
      await Promise.allSettled(running);
    },
  };
}
