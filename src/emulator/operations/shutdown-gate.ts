import { ServiceError } from "./service-error.js";

/** Lets calls in until it is closed, so that nothing works on a database that goes away. */
export interface Gate {
  /** @throws ServiceError DATA_UNAVAILABLE once it is closed */
  run<Result>(work: () => Result | Promise<Result>): Promise<Result>;
  readonly isClosed: boolean;
  /** Resolves when the last call that was let in is done. */
  close(): Promise<void>;
}

export function createGate(): Gate {
  const inside = new Set<Promise<unknown>>();
  let isClosed = false;
  return {
    get isClosed() {
      return isClosed;
    },
    async run(work) {
      if (isClosed) throw new ServiceError("DATA_UNAVAILABLE", "The emulator is being reset or closed.");
      const running = Promise.resolve().then(work);
      inside.add(running);
      try {
        return await running;
      } finally {
        inside.delete(running);
      }
    },
    async close() {
      isClosed = true;
      await Promise.allSettled(inside);
    },
  };
}
