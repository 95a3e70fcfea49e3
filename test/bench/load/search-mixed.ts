// Measures what a page of an inbox asks of a store that `fillMixed` has filled.
import type { InboxStore, Receiver, SearchQuery } from "signalbox";
import { watchLoop } from "../processes/loop-watch.js";
import { percentile } from "../statistics.js";
import { MIXED } from "./fill-mixed.js";

export interface AskResult {
  name: string;
  /** Of each call. */
  p50: number;
  p99: number;
  /** The longest stall of the event loop. */
  stallMs: number;
  /** Calls until the answer was complete. */
  calls: number;
}

interface MixedInbox {
  store: InboxStore;
  inbox: Receiver["inbox"];
  endpoint: string;
  events: number;
}

/** Asks everything again and again. */
export async function searchMixed(
  { store, inbox, endpoint, events }: MixedInbox,
  rounds: number,
): Promise<AskResult[]> {
  const newest = (await store.search(endpoint, { limit: 1 })).entries[0];
  if (newest === undefined) throw new Error("the inbox is empty");
  const anyId = (await store.search(endpoint, { beforeSeq: Math.ceil(newest.seq / 2), limit: 1 }))
    .entries[0]?.eventId;
  const searches: [name: string, query: SearchQuery][] = [
    ["newest", {}],
    ["state: dead", { state: "dead" }],
    ["state: done", { state: "done" }],
    ["product, 1 in 10", { subject: MIXED.commonProduct }],
    ["product, 1 in 2,000", { subject: "product-7" }],
    ["product, three events", { subject: MIXED.rareProduct }],
    ["product, none", { subject: MIXED.noProduct }],
    ["signal type, 1 in 40", { subtype: MIXED.signalType }],
    ["dead with an error", { state: "dead", error: "queue" }],
    ["dead of a product", { state: "dead", subject: "product-7" }],
    ["whole id", { eventId: anyId }],
    ["id, all begin so", { eventId: newest.eventId.slice(0, 2) }],
    ["received before the middle", { receivedBefore: newest.receivedAt - (events / 2) * 30_000 }],
  ];
  const results: AskResult[] = [];
  for (const [name, query] of searches) {
    let beforeSeq = query.beforeSeq;
    results.push(
      await measure(name, rounds, async () => {
        const { entries, nextBeforeSeq } = await store.search(endpoint, { ...query, beforeSeq });
        const isComplete = nextBeforeSeq === null || entries.length > 0;
        beforeSeq = isComplete ? query.beforeSeq : nextBeforeSeq;
        return isComplete;
      }),
    );
  }
  const others: [name: string, ask: () => Promise<unknown>][] = [
    ["list", () => store.list({ endpoint, limit: 50 })],
    ["get", () => store.get(endpoint, newest.eventId)],
    ["activity, 7 days", () => store.activity(endpoint, { minutes: 60, spans: 168 })],
    ["failures of 5,000 events", () => inbox.failures()],
    ["stats", () => store.stats(endpoint)],
  ];
  for (const [name, ask] of others) {
    results.push(
      await measure(name, rounds, async () => {
        await ask();
        return true;
      }),
    );
  }
  return results;
}

/** @param call resolves to whether its answer is complete */
async function measure(
  name: string,
  rounds: number,
  call: () => Promise<boolean>,
): Promise<AskResult> {
  const took: number[] = [];
  let calls = 0;
  const watch = watchLoop();
  for (let round = 0; round < rounds; round++) {
    for (let isComplete = false; !isComplete;) {
      const beganAt = performance.now();
      isComplete = await call();
      took.push(performance.now() - beganAt);
      calls += 1;
    }
    // Otherwise the timer of the watch would see many short calls as one stall.
    await new Promise((resume) => setImmediate(resume));
  }
  const { max: stallMs } = watch.stop();
  took.sort((a, b) => a - b);
  return {
    name,
    p50: percentile(took, 50),
    p99: percentile(took, 99),
    stallMs,
    calls: calls / rounds,
  };
}
