import { PermanentFailure, RetryLater, type Signal } from "signalbox";
import { signalEvent } from "signalbox/testing";
import { expect, onTestFinished, test } from "vitest";
import { jobIdOf, type SignalQueue } from "../src/signal-queue.js";
import { startWorker } from "../src/start-worker.js";
import { isRedisMissing, LOGGER, REDIS_URL, testQueue } from "./test-queue.js";

const noRedis = await isRedisMissing();

async function work(queue: SignalQueue, handle: (signal: Signal) => Promise<void>) {
  const config = { REDIS_URL, WORKER_CONCURRENCY: 1 };
  const { worker, close } = await startWorker(config, LOGGER, handle, queue.name);
  onTestFinished(close);
  return worker;
}

async function add(queue: SignalQueue, signal: Signal) {
  const deliveryKey = `default/${signal.id}`;
  return queue.add(signal.data.signal_type, { deliveryKey, signal }, { jobId: jobIdOf(deliveryKey) });
}

test.skipIf(noRedis)("a signal is handled once, also when its job comes again (needs Redis)", async () => {
  const queue = testQueue();
  const handled: Signal[] = [];
  const worker = await work(queue, async (signal) => void handled.push(signal));
  const completed = () => new Promise((resolve) => worker.once("completed", resolve));
  const signal = signalEvent();

  const first = completed();
  const job = await add(queue, signal);
  await first;
  // As if it had been forgotten.
  await job.remove();
  const second = completed();
  await add(queue, signal);
  await second;
  expect(handled).toEqual([signal]);
});

test.skipIf(noRedis)("what fails for good is not tried again (needs Redis)", async () => {
  const queue = testQueue();
  const worker = await work(queue, () => Promise.reject(new PermanentFailure("no such product")));
  const failed = new Promise((resolve) => worker.once("failed", resolve));
  const job = await add(queue, signalEvent());
  await failed;
  expect(await job.getState()).toBe("failed");
});

test.skipIf(noRedis)("what is put off waits and uses up no attempt (needs Redis)", async () => {
  const queue = testQueue();
  let put = (): void => undefined;
  const isPutOff = new Promise<void>((resolve) => (put = resolve));
  const worker = await work(queue, async () => {
    put();
    throw new RetryLater("rate limited", { delayMs: 60_000 });
  });
  const job = await add(queue, signalEvent());
  await isPutOff;
  await worker.close();
  expect(await job.getState()).toBe("delayed");
  expect((await queue.getJob(job.id ?? ""))?.attemptsMade).toBe(0);
});

test("it can be closed where there is no Redis", async () => {
  const config = { REDIS_URL: "redis://127.0.0.1:1", WORKER_CONCURRENCY: 1 };
  const { worker, close } = await startWorker(config, LOGGER, () => Promise.resolve());
  // It has noticed, and tries again.
  await new Promise((resolve) => worker.once("error", resolve));
  await close();
});
