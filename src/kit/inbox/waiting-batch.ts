import type {
  AcceptResult,
  Batch,
  ClaimRequest,
  ClaimResult,
  NewEvent,
  Settlement,
  SettleResult,
} from "./batch.js";

export interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/**
 * A settlement that waits for its commit. It has a callback, because a promise for each event would
 * take longer.
 */
export interface WaitingSettlement {
  item: Settlement;
  settled: (result: SettleResult | null) => void;
}

/** The writes of one commit, with those who wait for their results. */
export interface WaitingBatch {
  accepts: Waiting<NewEvent, AcceptResult>[];
  settlements: WaitingSettlement[];
  claim: Waiting<ClaimRequest, ClaimResult> | null;
}

export function unwrap(endpoint: string, { accepts, settlements, claim }: WaitingBatch): Batch {
  return {
    endpoint,
    accepts: accepts.map(({ item }) => item),
    settlements: settlements.map(({ item }) => item),
    claim: claim?.item ?? null,
  };
}

/**
 * Divides a batch with a refused row into two, to find that row; null when it cannot be divided.
 */
export function halve({
  accepts,
  settlements,
  claim,
}: WaitingBatch): [WaitingBatch, WaitingBatch] | null {
  const rows = accepts.length + settlements.length;
  if (rows === 0 || (rows === 1 && claim === null)) return null;
  const middle = Math.max(1, rows >> 1);
  const firstSettlements = Math.min(middle, settlements.length);
  const firstAccepts = middle - firstSettlements;
  return [
    {
      settlements: settlements.slice(0, firstSettlements),
      accepts: accepts.slice(0, firstAccepts),
      claim: null,
    },
    {
      settlements: settlements.slice(firstSettlements),
      accepts: accepts.slice(firstAccepts),
      claim,
    },
  ];
}

/**
 * Most new events of a commit, and bytes of their bodies, so that it blocks the event loop for
 * about 3 ms.
 */
const MOST_ACCEPTS = 256;
const MOST_BYTES = 1024 * 1024;

/** Takes the oldest of these off the list: as many as one commit takes. */
export function takeFirst(
  accepts: Waiting<NewEvent, AcceptResult>[],
): Waiting<NewEvent, AcceptResult>[] {
  let bytes = 0;
  const tooMany = accepts.findIndex(({ item }, index) => {
    bytes += item.body.byteLength;
    return index > 0 && (index >= MOST_ACCEPTS || bytes > MOST_BYTES);
  });
  return accepts.splice(0, tooMany === -1 ? accepts.length : tooMany);
}
