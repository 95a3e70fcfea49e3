import type { Redis } from "ioredis";

/** Stores which signals were handled, for longer than their jobs are kept. */
export interface HandledKeys {
  has(deliveryKey: string): Promise<boolean>;
  add(deliveryKey: string): Promise<void>;
}

/** The default time that signalbox keeps the id of an event. */
const KEPT_SECONDS = 30 * 24 * 60 * 60;

/**
 * Stores the keys in Redis. If your effects are in a database, store the keys there, in the same transaction as the effect.
 * Then a crash cannot repeat an effect.
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
