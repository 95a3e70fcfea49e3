// Fills any store with events as an inbox has them after a year: many products, few of them often,
// and few dead events.
import { createHash } from "node:crypto";
import { SIGNAL_TYPES, type InboxStore, type StoredEvent } from "signalbox";
import { signalEvent } from "signalbox/testing";
import { scatteredEventIds } from "./event-ids.js";

const BATCH = 1000;
const PRODUCTS = 2000;
const BETWEEN_EVENTS_MS = 30_000;

/** What a search can look for in such an inbox. */
export const MIXED = {
  /** About every tenth event. */
  commonProduct: "product-0",
  /** Three events, evenly spread. */
  rareProduct: "product-rare",
  noProduct: "product-none",
  /** About every fortieth event. */
  signalType: SIGNAL_TYPES[SIGNAL_TYPES.length - 1] as string,
};

/**
 * @param fill `from`: the number of the first event; `of`: how many the inbox will have at the end
 */
export async function fillMixed(
  store: InboxStore,
  endpoint: string,
  { from = 0, events, of = events }: { from?: number; events: number; of?: number },
): Promise<void> {
  const startedAt = Date.now() - of * BETWEEN_EVENTS_MS;
  for (let first = from; first < from + events; first += BATCH) {
    const length = Math.min(BATCH, from + events - first);
    const batch = Array.from({ length }, (_, index) =>
      mixedEvent(first + index, of, startedAt, endpoint),
    );
    await store.restore?.(endpoint, batch);
  }
}

/** The n-th event. Its kind follows from its number, so that each run has the same inbox. */
function mixedEvent(n: number, of: number, startedAt: number, endpoint: string): StoredEvent {
  const { signalId, productId } = scatteredEventIds(n);
  const dice = Math.floor(signalId / 7919) % 1000;
  const third = Math.floor(of / 3);
  const product =
    n % third === third - 1
      ? MIXED.rareProduct
      : `product-${dice % 10 === 0 ? 0 : signalId % PRODUCTS}`;
  const signalType = SIGNAL_TYPES[productId % SIGNAL_TYPES.length] ?? MIXED.signalType;
  const event = signalEvent({
    data: {
      signal_id: signalId,
      signal_type: signalType,
      product: { id: productId, slug: product },
    },
  });
  const body = Buffer.from(JSON.stringify(event));
  const at = startedAt + n * BETWEEN_EVENTS_MS;
  const state = dice < 10 ? "dead" : dice === 500 ? "quarantined" : "done";
  const lastError =
    state === "dead"
      ? `Error: the queue of ${product} is down\n${"    at send (queue.js:1:1)\n".repeat(20)}`
      : null;
  return {
    seq: n,
    endpoint,
    eventId: event.id,
    type: event.type,
    state,
    dueAt: at,
    attempts: lastError === null ? 1 : 3,
    crashes: 0,
    possiblyRepeated: false,
    replayed: false,
    receivedAt: at,
    lastError: state === "quarantined" ? "data_invalid" : lastError,
    subtype: state === "quarantined" ? null : signalType,
    subject: state === "quarantined" ? null : product,
    sender: "signals",
    received: { at, headers: { "content-type": "application/json", "user-agent": "signals/1" } },
    bodyHash: createHash("sha256").update(body).digest(),
    rawBody: body,
    history:
      lastError === null
        ? []
        : [1, 2, 3].map((attempts) => ({ at, kind: "failed", attempts, error: lastError })),
  };
}
