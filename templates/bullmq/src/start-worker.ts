import { setTimeout as sleep } from "node:timers/promises";
import { DelayedError, UnrecoverableError, Worker, type Job } from "bullmq";
import { Redis } from "ioredis";
import type { Logger } from "pino";
import { PermanentFailure, RetryLater } from "signalbox";
import type { Config } from "./config.js";
import type { onSignal } from "./on-signal.js";
import { QUEUE_NAME, type SignalJob } from "./queue.js";

/**
 * How long the keys of handled signals are kept: as long as signalbox keeps the id of an event by
 * default.
 */
const KEY_SECONDS = 30 * 24 * 60 * 60;
/**
 * How long `close` waits for running jobs. Without Redis no job can end, and BullMQ would wait
 * forever.
 */
const CLOSE_MS = 30_000;
const CLOSE_WITHOUT_REDIS_MS = 1000;

/**
 * Takes jobs and skips signals that were handled before.
 *
 * @param queueName each test uses another name. @default "signals"
 */
export function startWorker(
  {
    REDIS_URL: url,
    WORKER_CONCURRENCY: concurrency,
  }: Pick<Config, "REDIS_URL" | "WORKER_CONCURRENCY">,
  logger: Logger,
  handle: typeof onSignal,
  queueName: string = QUEUE_NAME,
) {
  const redis = new Redis(url, { maxRetriesPerRequest: null });
  redis.on("error", (error: Error) => logger.warn({ err: error }, "Redis"));

  async function work(job: Job<SignalJob, void>, token?: string): Promise<void> {
    const { deliveryKey, signal } = job.data;
    const key = `${queueName}:handled:${deliveryKey}`;
    if ((await redis.exists(key)) === 1) return logger.info({ deliveryKey }, "handled before");
    try {
      await handle(signal, { deliveryKey, logger: logger.child({ deliveryKey }) });
    } catch (error) {
      if (error instanceof PermanentFailure) throw new UnrecoverableError(error.message);
      if (!(error instanceof RetryLater)) throw error;
      // A delayed job does not use up an attempt.
      await job.moveToDelayed(Date.now() + error.delayMs, token);
      throw new DelayedError();
    }
    // If your effects are in a database, store the key there, in the same transaction. Then a crash
    // cannot repeat an effect.
    await redis.set(key, new Date().toISOString(), "EX", KEY_SECONDS);
  }

  const worker = new Worker<SignalJob, void>(queueName, work, { connection: { url }, concurrency });
  worker.on("error", (error) => logger.warn({ err: error }, "Redis"));
  worker.on("failed", (job, error) => {
    logger.error(
      { deliveryKey: job?.data.deliveryKey, attempts: job?.attemptsMade, err: error },
      "a job failed",
    );
  });
  logger.info({ queue: queueName }, "worker started");

  return {
    worker,
    /** Waits for running jobs. Another worker repeats the jobs that do not end. */
    async close(): Promise<void> {
      const timeoutMs = redis.status === "ready" ? CLOSE_MS : CLOSE_WITHOUT_REDIS_MS;
      await Promise.race([worker.close(), sleep(timeoutMs, undefined, { ref: false })]);
      redis.disconnect();
    },
  };
}
