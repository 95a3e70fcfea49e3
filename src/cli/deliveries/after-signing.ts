import { gzipSync } from "node:zlib";
import type { AfterSigning } from "./delivery-schema.js";

/** What `afterSigning` of a case does to the signed bytes, so that the signature no longer fits them. */
export const AFTER_SIGNING: Readonly<Record<AfterSigning, { words: string; apply: (body: Buffer) => Buffer }>> = {
  "change-byte": { words: "one byte changed after signing", apply: changeByte },
  "append-newline": {
    words: "a line end appended after signing",
    apply: (body) => Buffer.concat([body, Buffer.from("\n")]),
  },
  reserialise: {
    words: "the JSON parsed and written again after signing",
    apply: (body) => Buffer.from(JSON.stringify(JSON.parse(body.toString()), null, 2)),
  },
  truncate: { words: "the last byte cut off after signing", apply: (body) => body.subarray(0, -1) },
  empty: { words: "the body emptied after signing", apply: () => Buffer.alloc(0) },
  gzip: { words: "compressed after signing", apply: (body) => gzipSync(body) },
};

/** Changes one bit in the middle. The length stays. */
export function changeByte(body: Buffer): Buffer {
  const changed = Buffer.from(body);
  const middle = Math.floor(changed.length / 2);
  if (changed.length > 0) changed[middle] = (changed[middle] as number) ^ 1;
  return changed;
}
