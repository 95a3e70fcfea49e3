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
  /** Waits for the jobs that run. Those that do not finish are done again by another worker. */
  close(): Promise<void>;
}

/** How long one job may take. */
const JOB_TIMEOUT_MS = 30_000;
/** How long the end of the process may take. Without Redis no job can finish, and BullMQ would wait for ever. */
const CLOSE_TIMEOUT_MS = JOB_TIMEOUT_MS + 5000;
const CLOSE_TIMEOUT_WITHOUT_REDIS_MS = 1000;

/**
 * Takes jobs and handles each signal once, as far as possible: signals that were handled are skipped. After a crash between
 * the effect and its key, the signal is handled again, with the same `deliveryKey`.
 *
 * @param queueName each test uses its own. @default "signals"
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
      // No attempt is used up: nothing is broken.
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
