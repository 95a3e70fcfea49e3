import { gzipSync } from "node:zlib";

/**
 * The changes that `afterSigning` of a case can make to the signed bytes. The signature does not
 * match the changed bytes.
 */
export const AFTER_SIGNING = {
  "change-byte": { description: "one byte changed after signing", apply: changeByte },
  "append-newline": {
    description: "a line end appended after signing",
    apply: (body) => Buffer.concat([body, Buffer.from("\n")]),
  },
  reserialise: {
    description: "the JSON parsed and written again after signing",
    apply: (body) => Buffer.from(JSON.stringify(JSON.parse(body.toString()), null, 2)),
  },
  truncate: {
    description: "the last byte cut off after signing",
    apply: (body) => body.subarray(0, -1),
  },
  empty: { description: "the body emptied after signing", apply: () => Buffer.alloc(0) },
  gzip: { description: "compressed after signing", apply: (body) => gzipSync(body) },
} satisfies Record<string, { description: string; apply: (body: Buffer) => Buffer }>;

export function changeByte(body: Buffer): Buffer {
  const changed = Buffer.from(body);
  const middle = Math.floor(changed.length / 2);
  if (changed.length > 0) changed[middle] = (changed[middle] as number) ^ 1;
  return changed;
}
