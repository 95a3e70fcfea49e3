import { gzipSync } from "node:zlib";
import type { AfterSigning } from "./delivery-schema.js";

/** What is done to signed bytes, so that the signature does not fit them any more. */
export const CHANGES_AFTER_SIGNING: Readonly<Record<AfterSigning, (body: Buffer) => Buffer>> = {
  "change-byte": changeByte,
  "append-newline": (body) => Buffer.concat([body, Buffer.from("\n")]),
  reserialise: (body) => Buffer.from(JSON.stringify(JSON.parse(body.toString()), null, 2)),
  truncate: (body) => body.subarray(0, -1),
  empty: () => Buffer.alloc(0),
  gzip: (body) => gzipSync(body),
};

/** One byte in the middle becomes its neighbour; the length stays. */
export function changeByte(body: Buffer): Buffer {
  const changed = Buffer.from(body);
  const middle = Math.floor(changed.length / 2);
  if (changed.length > 0) changed[middle] = (changed[middle] as number) ^ 1;
  return changed;
}
