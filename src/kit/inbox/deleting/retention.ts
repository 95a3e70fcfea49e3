import type { Clock } from "../../../base/time/clock.js";
import { DAY_MS } from "../../../base/time/units.js";
import type { Batcher } from "../batcher.js";
import { createByteLimit } from "./byte-limit.js";
import type { InboxStore } from "../store.js";

/** How long done events are kept. Events in other states never expire. */
export interface RetentionOptions {
  /**
   * Days until a done event is deleted. If its sender repeats the delivery later, it is handed off
   * a second time. At least 2.
   * @default 30
   */
  keyDays?: number | undefined;
  /** Days until the payload of a done event is deleted. At most `keyDays`. @default 7 */
  payloadDays?: number | undefined;
  /**
   * The most bytes of payloads, bodies and headers, of done events of the endpoint. Above it, those
   * that were done first, by the minute, lose theirs before `payloadDays`; no event loses its id.
   *
   * @default no limit
   */
  maxBytes?: number | undefined;
}

/** The defaults and the least value, which `signalbox inbox prune` has too. */
export const RETENTION = { keyDays: 30, leastKeyDays: 2, payloadDays: 7 } as const;

/** The options with their defaults. */
export type RetentionConfig = Record<"keyDays" | "payloadDays", number> &
  Pick<RetentionOptions, "maxBytes">;

const ROWS_AT_ONCE = 500;
const ROUND_EVERY_MS = 60_000;
/** The delay between two portions, so that deliveries can be stored in between. */
const PORTION_EVERY_MS = 100;
/**
 * While events wait to be stored, a portion is postponed, but only this often. So at least 1,600
 * rows a second are pruned, also under a load that never ends; in SQLite a portion blocks the event
 * loop for about 8 ms, half of it to overwrite what is deleted.
 */
const MOST_POSTPONEMENTS = 2;

/**
 * Prunes old done events in small portions, if possible when nothing waits to be stored.
 *
 * @returns a function that stops it
 */
export function startRetention(config: {
  store: InboxStore;
  endpoint: string;
  batcher: Batcher;
  clock: Clock;
  retention: RetentionConfig;
  onError: (error: unknown) => void;
}): () => void {
  const { store, endpoint, batcher, clock, retention } = config;
  const { maxBytes } = retention;
  const limitBytes = maxBytes === undefined ? undefined : createByteLimit(config, maxBytes);
  let stopped = false;
  let postponed = 0;
  let timer = clock.setTimeout(() => void prune(), ROUND_EVERY_MS);

  /** @returns whether there is more to prune */
  async function pruneOnce(ageMs: number): Promise<boolean> {
    const payloadsOlderThanMs = Math.min(ageMs, retention.payloadDays * DAY_MS);
    const keysOlderThanMs = retention.keyDays * DAY_MS;
    const limit = ROWS_AT_ONCE;
    const pruned = await store.prune({ endpoint, payloadsOlderThanMs, keysOlderThanMs, limit });
    return pruned.payloads + pruned.keys >= limit || pruned.isAtEnd === false;
  }

  async function prune(): Promise<void> {
    let delayMs = ROUND_EVERY_MS;
    if (!batcher.isIdle() && postponed < MOST_POSTPONEMENTS) {
      postponed += 1;
      delayMs = PORTION_EVERY_MS;
    } else {
      postponed = 0;
      try {
        const { ageMs, isAtEnd } = (await limitBytes?.()) ?? { ageMs: Infinity, isAtEnd: true };
        // Before the end of the sizes the age is not known.
        const isMore = !isAtEnd || (await pruneOnce(ageMs));
        if (isMore) delayMs = PORTION_EVERY_MS;
      } catch (error) {
        if (!stopped) config.onError(error);
      }
    }
    if (!stopped) timer = clock.setTimeout(() => void prune(), delayMs);
  }

  return () => {
    stopped = true;
    timer.cancel();
  };
}
