import { ServiceError } from "./service-error.js";

/** Runs calls until it is closed, so that no call works on a database that is being closed. */
export interface ShutdownGate {
  /** @throws ServiceError DATA_UNAVAILABLE once it is closed */
  run<Result>(work: () => Result | Promise<Result>): Promise<Result>;
  readonly isClosed: boolean;
  /** Resolves when every call that runs is done. */
  close(): Promise<void>;
}

export function createShutdownGate(): ShutdownGate {
  const running = new Set<Promise<unknown>>();
  let isClosed = false;
  return {
    get isClosed() {
      return isClosed;
    },
    async run(work) {
      if (isClosed) throw new ServiceError("DATA_UNAVAILABLE", "The emulator is being reset or closed.");
      const call = Promise.resolve().then(work);
      running.add(call);
      try {
        return await call;
      } finally {
        running.delete(call);
      }
    },
    async close() {
      isClosed = true;
      await Promise.allSettled(running);
    },
  };
}
