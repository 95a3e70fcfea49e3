import { hash } from "node:crypto";

/**
 * The events of an endpoint with one key of the option `order`. One of them is the head, which is
 * handed off; the others wait behind it.
 */
export interface Lane {
  /** See {@link laneKey}. */
  key: Uint8Array;
  /** Whether a dead event lets the later ones go on. */
  skips: boolean;
  /** With the option `coalesce`, of an event of its types. Absent, or null: it is handed off alone. */
  burst?: QuietTime | null;
}

/**
 * How an event joins a burst: the events that are neighbours in their lane, of which only the newest
 * is handed off. It is due when none has come for `quietMs`, at the latest `longestMs` after the
 * first.
 */
export interface QuietTime {
  quietMs: number;
  longestMs: number;
  /** See {@link rankOf}. Null: the newest is the one that arrives last. */
  rank: Uint8Array | null;
}

/** The earlier events of a burst, which the hand-off of its newest one stands for. */
export interface EarlierEvents {
  /** How many there are. */
  count: number;
  /** The last {@link MOST_EARLIER} that were accepted, the oldest first. */
  events: {
    eventId: string;
    type: string;
    /** In milliseconds since 1970. */
    receivedAt: number;
  }[];
}

/** A hand-off names so many earlier events. */
export const MOST_EARLIER = 100;

/** What is stored of a key: 16 bytes of its hash. */
export function laneKey(key: string): Uint8Array {
  return Buffer.from(hash("sha256", key, "hex").slice(0, 32), "hex");
}

/** Longer texts of `coalesce.newest` are refused: a rank is stored with each event. */
export const LONGEST_RANK = 200;

/**
 * What is stored of a result of `coalesce.newest`: bytes in the order of the numbers, or of the
 * characters of the texts.
 *
 * @returns null for what has no order
 */
export function rankOf(value: unknown): Uint8Array | null {
  if (typeof value === "string")
    return value.length > LONGEST_RANK ? null : Buffer.from(`s${value}`);
  if (typeof value !== "number" || Number.isNaN(value)) return null;
  const bytes = Buffer.alloc(9, "n");
  // Adding 0 makes -0 the same as 0.
  bytes.writeDoubleBE(value + 0, 1);
  // As integers, negative numbers would count down, above the others.
  const bits = bytes.readBigUInt64BE(1);
  bytes.writeBigUInt64BE(value < 0 ? bits ^ ALL_BITS : bits | SIGN_BIT, 1);
  return bytes;
}

const SIGN_BIT = 1n << 63n;
const ALL_BITS = (1n << 64n) - 1n;
