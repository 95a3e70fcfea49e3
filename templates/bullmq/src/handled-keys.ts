import type { Redis } from "ioredis";

/** Remembers which signals were handled, longer than their jobs are kept. */
export interface HandledKeys {
  has(deliveryKey: string): Promise<boolean>;
  add(deliveryKey: string): Promise<void>;
}

/** As long as signalbox remembers the id of an event. */
const KEPT_SECONDS = 30 * 24 * 60 * 60;

/**
 * In Redis. If your effects go into a database, keep the keys there instead, in the same transaction as the effect: then a
 * crash between the two cannot repeat it.
 */
export function handledKeysIn(redis: Redis, queueName: string): HandledKeys {
  const nameOf = (deliveryKey: string): string => `${queueName}:handled:${deliveryKey}`;
  return {
    has: async (deliveryKey) => (await redis.exists(nameOf(deliveryKey))) === 1,
    async add(deliveryKey) {
      await redis.set(nameOf(deliveryKey), new Date().toISOString(), "EX", KEPT_SECONDS);
    },
  };
}
