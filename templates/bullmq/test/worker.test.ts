import { Redis } from "ioredis";
import { pino } from "pino";
import { PermanentFailure, RetryLater, type Signal } from "signalbox";
import { signalEvent } from "signalbox/testing";
import { expect, onTestFinished, test } from "vitest";
import { createQueue, enqueue, jobIdOf } from "../src/queue.js";
import { startWorker } from "../src/start-worker.js";

const REDIS_URL = process.env["REDIS_URL"] ?? "redis://127.0.0.1:6379";
const logger = pino({ enabled: false });
const noRedis = await isRedisMissing();

async function isRedisMissing(): Promise<boolean> {
  const redis = new Redis(REDIS_URL, { lazyConnect: true, retryStrategy: () => null });
  redis.on("error", () => undefined);
  const isMissing = await redis.connect().then(
    () => false,
    () => true,
  );
  redis.disconnect();
  return isMissing;
}

/** A queue of its own, and its worker. The keys of both are deleted when the test is over. */
function work(handle: (signal: Signal) => Promise<void>) {
  const queue = createQueue(REDIS_URL, logger, `test-${crypto.randomUUID()}`);
  const { worker, close } = startWorker(
    { REDIS_URL, WORKER_CONCURRENCY: 1 },
    logger,
    handle,
    queue.name,
  );
  onTestFinished(async () => {
    await close();
    await queue.obliterate({ force: true });
    const redis = new Redis(REDIS_URL);
    const keys = await redis.keys(`${queue.name}:*`);
    if (keys.length > 0) await redis.del(...keys);
    redis.disconnect();
    await queue.close();
  });
  const add = async (signal: Signal) => {
    const deliveryKey = `default/${signal.id}`;
    await enqueue(queue, signal, { deliveryKey, logger });
    return async () => queue.getJob(jobIdOf(deliveryKey));
  };
  const next = (event: "completed" | "failed") =>
    new Promise((resolve) => worker.once(event, resolve));
  return { add, next, close };
}

test.skipIf(noRedis)(
  "a signal is handled once, also when it is queued again (needs Redis)",
  async () => {
    const handled: Signal[] = [];
    const { add, next } = work(async (signal) => void handled.push(signal));
    const signal = signalEvent();
    const first = next("completed");
    const jobOf = await add(signal);
    await first;
    // As if BullMQ had deleted the old job.
    await (await jobOf())?.remove();
    const second = next("completed");
    await add(signal);
    await second;
    expect(handled).toEqual([signal]);
  },
);

test.skipIf(noRedis)("a PermanentFailure is not tried again (needs Redis)", async () => {
  const { add, next } = work(() => Promise.reject(new PermanentFailure("no such product")));
  const failed = next("failed");
  const jobOf = await add(signalEvent());
  await failed;
  expect(await (await jobOf())?.getState()).toBe("failed");
});

test.skipIf(noRedis)("RetryLater delays the job and uses up no attempt (needs Redis)", async () => {
  let delay = (): void => undefined;
  const isDelayed = new Promise<void>((resolve) => (delay = resolve));
  const { add, close } = work(async () => {
    delay();
    throw new RetryLater("rate limited", { delayMs: 60_000 });
  });
  const jobOf = await add(signalEvent());
  await isDelayed;
  await close();
  const job = await jobOf();
  expect(await job?.getState()).toBe("delayed");
  expect(job?.attemptsMade).toBe(0);
});

test("a job id has no colon, and different keys have different ids", () => {
  const ids = ["a/b:c", "a/b%3Ac", "a/b%253Ac"].map(jobIdOf);
  expect(ids.filter((id) => id.includes(":"))).toEqual([]);
  expect(new Set(ids).size).toBe(3);
});
