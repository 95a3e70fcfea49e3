import type { InboxStore, PayloadSize } from "./store.js";

/** So many payloads are looked at at once, in about 2 ms. */
const BLOCK = 1000;
/** So many blocks are looked at again in a round, as their events may be done by now. */
const LOOKED_AT_AGAIN = 10;
const MOST_DROPPED = 500;

/** What the payloads of some events were when they were looked at last. */
interface Block {
  from: number;
  before: number;
  /** Of those that are done. */
  bytes: number;
  /** Whether any was not done. */
  waits: boolean;
}

/**
 * Keeps the bytes of done payloads below a limit. Their sum stands nowhere, because each settlement
 * would pay for it. So each payload is looked at once after the start, and again while an event of
 * its block is not done, or before something is dropped. A block takes about 100 bytes.
 *
 * @returns a function that does a small part; it returns whether there is more to do soon
 */
export function createByteLimit(store: InboxStore, endpoint: string, maxBytes: number) {
  /** The full ones, the oldest first. */
  const blocks = new Set<Block>();
  let newest = blockFrom(0);
  let total = 0;
  let lookedAtAgain = 0;
  /** The last of them. */
  let lastFrom = -1;

  async function look(block: Block): Promise<PayloadSize[]> {
    const { from, before } = block;
    const sizes = await store.payloadSizes({ endpoint, from, before, limit: BLOCK });
    const bytes = sizes.reduce((sum, size) => sum + size.bytes, 0);
    total += bytes - block.bytes;
    block.bytes = bytes;
    block.waits = sizes.some(({ waits }) => waits);
    if (bytes === 0 && !block.waits) blocks.delete(block);
    return sizes;
  }

  async function dropOldest(): Promise<void> {
    // What retention by age has deleted meanwhile is noticed here.
    const oldest = [...blocks].find(({ bytes }) => bytes > 0) ?? newest;
    const seqs: number[] = [];
    const sizes = await look(oldest);
    let excess = total - maxBytes;
    for (const { seq, bytes } of sizes) {
      if (excess <= 0 || seqs.length === MOST_DROPPED) break;
      if (bytes > 0) seqs.push(seq);
      excess -= bytes;
    }
    await store.dropPayloads(endpoint, seqs);
    await look(oldest);
  }

  async function lookAgain(): Promise<boolean> {
    lookedAtAgain = (lookedAtAgain + 1) % LOOKED_AT_AGAIN;
    const next = [...blocks].find(({ from, waits }) => waits && from > lastFrom);
    lastFrom = next?.from ?? -1;
    if (next !== undefined) await look(next);
    return next !== undefined && lookedAtAgain > 0;
  }

  return async (): Promise<boolean> => {
    const last = (await look(newest))[BLOCK - 1];
    if (last !== undefined) {
      newest.before = last.seq + 1;
      if (newest.bytes > 0 || newest.waits) blocks.add(newest);
      newest = blockFrom(newest.before);
    }
    if (total > maxBytes) await dropOldest();
    return last !== undefined || total > maxBytes || lookAgain();
  };
}

function blockFrom(from: number): Block {
  return { from, before: Number.MAX_SAFE_INTEGER, bytes: 0, waits: false };
}
