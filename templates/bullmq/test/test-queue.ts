import { Redis } from "ioredis";
import { pino } from "pino";
import { onTestFinished } from "vitest";
import { createSignalQueue, type SignalQueue } from "../src/signal-queue.js";

export const REDIS_URL = process.env["REDIS_URL"] ?? "redis://127.0.0.1:6379";
export const LOGGER = pino({ enabled: false });

/** Tests that need a Redis are skipped by name where there is none. */
export async function isRedisMissing(): Promise<boolean> {
  const redis = new Redis(REDIS_URL, { lazyConnect: true, retryStrategy: () => null });
  redis.on("error", () => undefined);
  const isMissing = await redis.connect().then(
    () => false,
    () => true,
  );
  redis.disconnect();
  return isMissing;
}

/** A queue of its own, whose keys are gone when the test is over. */
export function testQueue(): SignalQueue {
  const queue = createSignalQueue(REDIS_URL, LOGGER, `test-${crypto.randomUUID()}`);
  onTestFinished(async () => {
    await queue.obliterate({ force: true });
    const redis = new Redis(REDIS_URL);
    const keys = await redis.keys(`${queue.name}:*`);
    if (keys.length > 0) await redis.del(...keys);
    redis.disconnect();
    await queue.close();
  });
  return queue;
}
