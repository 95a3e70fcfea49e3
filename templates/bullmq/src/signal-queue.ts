import { Queue } from "bullmq";
import type { Logger } from "pino";
import type { Signal } from "signalbox";

export const QUEUE_NAME = "signals";

export interface SignalJob {
  /** The same in every hand-off of the signal. */
  deliveryKey: string;
  signal: Signal;
}

export type SignalQueue = Queue<SignalJob, void>;

const DAY_SECONDS = 24 * 60 * 60;

/** @param name each test uses its own. @default "signals" */
export function createSignalQueue(redisUrl: string, logger: Logger, name: string = QUEUE_NAME): SignalQueue {
  const queue: SignalQueue = new Queue(name, {
    // Without Redis the inbox keeps the signal: `add` fails at once or, if there was no connection yet, when the time of the
    // hand-off is over.
    connection: { url: redisUrl, enableOfflineQueue: false },
    defaultJobOptions: {
      attempts: 10,
      backoff: { type: "exponential", delay: 5000 },
      // A repeat is recognised while the job is there; signalbox tries for days.
      removeOnComplete: { age: 4 * DAY_SECONDS },
    },
  });
  queue.on("error", (error) => logger.warn({ err: error }, "Redis"));
  return queue;
}

/** BullMQ allows no `:` in an id. Different keys stay different. */
export function jobIdOf(deliveryKey: string): string {
  return deliveryKey.replaceAll("%", "%25").replaceAll(":", "%3A");
}
