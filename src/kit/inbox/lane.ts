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
}

/** What is stored of a key: 16 bytes of its hash. */
export function laneKey(key: string): Uint8Array {
  return Buffer.from(hash("sha256", key, "hex").slice(0, 32), "hex");
}
