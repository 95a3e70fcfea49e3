import { setTimeout as sleep } from "node:timers/promises";
import { DelayedError, UnrecoverableError, Worker, type Job } from "bullmq";
import { Redis } from "ioredis";
import type { Logger } from "pino";
import { PermanentFailure, RetryLater, type Signal } from "signalbox";
import type { WorkerConfig } from "./config.js";
import { handledKeysIn } from "./handled-keys.js";
import type { HandlingContext } from "./handle-signal.js";
import { QUEUE_NAME, type SignalJob } from "./signal-queue.js";

export interface RunningWorker {
  worker: Worker<SignalJob, void>;
  /** Waits for running jobs. Another worker repeats the jobs that do not finish. */
  close(): Promise<void>;
}

/** The time limit of a job. */
const JOB_TIMEOUT_MS = 30_000;
/** The time limit of `close`. Without Redis, BullMQ would wait forever, because jobs cannot finish. */
const CLOSE_TIMEOUT_MS = JOB_TIMEOUT_MS + 5000;
const CLOSE_TIMEOUT_WITHOUT_REDIS_MS = 1000;

/**
 * Takes jobs and skips signals that were handled before. After a crash between the effect and storing its key, the signal is
 * handled again, with the same `deliveryKey`.
 *
 * @param queueName each test uses another name. @default "signals"
 */
export async function startWorker(
  config: Pick<WorkerConfig, "REDIS_URL" | "WORKER_CONCURRENCY">,
  logger: Logger,
  handle: (signal: Signal, context: HandlingContext) => Promise<void>,
  queueName: string = QUEUE_NAME,
): Promise<RunningWorker> {
  const redis = new Redis(config.REDIS_URL, { maxRetriesPerRequest: null });
  redis.on("error", (error: Error) => logger.warn({ err: error }, "Redis"));
  const handled = handledKeysIn(redis, queueName);

  async function work(job: Job<SignalJob, void>, token?: string): Promise<void> {
    const { deliveryKey, signal } = job.data;
    if (await handled.has(deliveryKey)) {
      logger.info({ deliveryKey }, "handled before");
      return;
    }
    try {
      await handle(signal, { deliveryKey, abortSignal: AbortSignal.timeout(JOB_TIMEOUT_MS) });
    } catch (error) {
      if (error instanceof PermanentFailure) throw new UnrecoverableError(error.message);
      if (!(error instanceof RetryLater)) throw error;
      // A delayed job does not use up an attempt.
      await job.moveToDelayed(Date.now() + error.delayMs, token);
      throw new DelayedError();
    }
    await handled.add(deliveryKey);
  }

  const worker = new Worker<SignalJob, void>(queueName, work, {
    connection: { url: config.REDIS_URL },
    concurrency: config.WORKER_CONCURRENCY,
  });
  worker.on("error", (error) => logger.warn({ err: error }, "Redis"));
  worker.on("failed", (job, error) => {
    logger.error({ deliveryKey: job?.data.deliveryKey, attempts: job?.attemptsMade, err: error }, "a job failed");
  });
  logger.info({ queue: queueName }, "worker started");
  return {
    worker,
    async close() {
      const timeoutMs = redis.status === "ready" ? CLOSE_TIMEOUT_MS : CLOSE_TIMEOUT_WITHOUT_REDIS_MS;
      const late = new AbortController();
      await Promise.race([worker.close(), sleep(timeoutMs, undefined, { signal: late.signal })]);
      late.abort();
      redis.disconnect();
    },
  };
}
