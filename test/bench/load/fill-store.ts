import { createHash } from "node:crypto";
import { SIGNAL_TYPES, type InboxStore, type SignalEvent, type StoredEvent } from "signalbox";
import { createManualClock } from "signalbox/testing";
import { ENDPOINT } from "../endpoint.js";
import { makeEvent, scatteredEventIds } from "./events.js";

const BATCH = 1000;
/** Events between two lines of progress. */
const STEP = 100_000;
const PRODUCTS = 2000;

/** What a search can look for in a mixed inbox. */
export const MIXED = {
  /** About every tenth event. */
  commonProduct: "product-0",
  /** Three events, evenly spread. */
  rareProduct: "product-rare",
  noProduct: "product-none",
  /** About every fortieth event. */
  signalType: SIGNAL_TYPES[SIGNAL_TYPES.length - 1] as string,
};

export interface Fill {
  events: number;
  /** From one event to the next; the last one is received now. */
  betweenMs: number;
  /**
   * As an inbox is after a year: many products, few of them often, and few dead events. Otherwise
   * all are events of the load that were handled.
   */
  isMixed: boolean;
  progress(events: number): void;
}

/** Fills a store that is not open. What an event is follows from its number: runs are alike. */
export async function fillStore(store: InboxStore, fill: Fill): Promise<void> {
  const now = Date.now();
  await store.open({ endpoint: ENDPOINT, clock: createManualClock(now) });
  try {
    for (let first = 0; first < fill.events; first += BATCH) {
      const length = Math.min(BATCH, fill.events - first);
      const batch = Array.from({ length }, (_, index) => {
        const at = now - Math.floor((fill.events - first - index) * fill.betweenMs);
        return fill.isMixed
          ? mixedEvent(first + index, fill.events, at)
          : doneEvent(first + index, at);
      });
      await store.restore?.(ENDPOINT, batch);
      const filled = first + length;
      if (filled % STEP === 0 || filled === fill.events) fill.progress(filled);
    }
  } finally {
    await store.close(ENDPOINT);
  }
}

function doneEvent(n: number, at: number, data?: Partial<SignalEvent["data"]>): StoredEvent {
  const event = makeEvent(n, data);
  const body = Buffer.from(JSON.stringify(event));
  return {
    seq: n,
    endpoint: ENDPOINT,
    eventId: event.id,
    type: event.type,
    state: "done",
    dueAt: at,
    attempts: 1,
    crashes: 0,
    possiblyRepeated: false,
    replayed: false,
    receivedAt: at,
    lastError: null,
    subtype: event.data.signal_type,
    subject: event.data.product.slug,
    sender: "signals",
    received: { at, headers: { "content-type": "application/json", "user-agent": "signals/1" } },
    bodyHash: createHash("sha256").update(body).digest(),
    rawBody: body,
    history: [],
    waitsBehind: null,
    lane: null,
    heldCount: 0,
    earlierCount: 0,
  };
}

function mixedEvent(n: number, of: number, at: number): StoredEvent {
  const { signalId, productId } = scatteredEventIds(n);
  const dice = Math.floor(signalId / 7919) % 1000;
  const third = Math.floor(of / 3);
  const product = `product-${dice % 10 === 0 ? 0 : signalId % PRODUCTS}`;
  const slug = n % third === third - 1 ? MIXED.rareProduct : product;
  const signal_type = SIGNAL_TYPES[productId % SIGNAL_TYPES.length] ?? MIXED.signalType;
  const done = doneEvent(n, at, { signal_type, product: { id: productId, slug } });
  if (dice === 500)
    return {
      ...done,
      state: "quarantined",
      lastError: "data_invalid",
      subtype: null,
      subject: null,
    };
  if (dice >= 10) return done;
  const error = `Error: the queue of ${slug} is down\n${"    at send (queue.js:1:1)\n".repeat(20)}`;
  const history = [1, 2, 3].map((attempts) => ({ at, kind: "failed" as const, attempts, error }));
  return { ...done, state: "dead", attempts: 3, lastError: error, history };
}
