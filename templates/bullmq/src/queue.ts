import { Queue } from "bullmq";
import type { Logger } from "pino";
import type { Handoff, Signal } from "signalbox";

export const QUEUE_NAME = "signals";

export interface SignalJob {
  /** The same value in every hand-off of the signal. */
  deliveryKey: string;
  signal: Signal;
}

export type SignalQueue = Queue<SignalJob, void>;

const DAY_SECONDS = 24 * 60 * 60;

/** @param name each test uses another name. @default "signals" */
export function createQueue(
  redisUrl: string,
  logger: Logger,
  name: string = QUEUE_NAME,
): SignalQueue {
  const queue: SignalQueue = new Queue(name, {
    // Without Redis, `add` fails at once or, before the first connection, when the time of the
    // hand-off is over. The signal then stays in the inbox.
    connection: { url: redisUrl, enableOfflineQueue: false },
    defaultJobOptions: {
      attempts: 10,
      backoff: { type: "exponential", delay: 5000 },
      // A repeated signal is ignored while its job exists. Keep it longer than signalbox retries:
      // three days.
      removeOnComplete: { age: 4 * DAY_SECONDS },
    },
  });
  queue.on("error", (error) => logger.warn({ err: error }, "Redis"));
  return queue;
}

/**
 * Adds the job of a signal. BullMQ ignores a job whose id exists, so a repeated signal has no
 * effect.
 */
export async function enqueue(
  queue: SignalQueue,
  signal: Signal,
  { deliveryKey, logger }: Pick<Handoff, "deliveryKey" | "logger">,
): Promise<void> {
  await queue.add(
    signal.data.signal_type,
    { deliveryKey, signal },
    { jobId: jobIdOf(deliveryKey) },
  );
  logger.info({ type: signal.data.signal_type, product: signal.data.product.slug }, "queued");
}

/** BullMQ does not allow `:` in an id, so it is escaped. */
export function jobIdOf(deliveryKey: string): string {
  return deliveryKey.replaceAll("%", "%25").replaceAll(":", "%3A");
}
