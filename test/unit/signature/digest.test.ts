import { createHash } from "node:crypto";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { signatureDigest } from "../../../src/signature/digest.js";

/** RFC 2104, written out. */
function reference(secret: string, text: string, body: NodeJS.ArrayBufferView): string {
  const sha256 = (...parts: Uint8Array[]): Buffer => createHash("sha256").update(Buffer.concat(parts)).digest();
  const key = Buffer.from(secret);
  const block = Buffer.alloc(64);
  (key.byteLength > 64 ? sha256(key) : key).copy(block);
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const inner = sha256(
    block.map((byte) => byte ^ 0x36),
    Buffer.from(`${text}.`),
    bytes,
  );
  return sha256(
    block.map((byte) => byte ^ 0x5c),
    inner,
  ).toString("hex");
}

const secrets = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 40 }),
  // Around the block of 64 bytes, where a key begins to be hashed first.
  fc.string({ unit: "grapheme", minLength: 18, maxLength: 80 }),
  fc.string({ unit: "binary", maxLength: 80 }),
);

test("it is what RFC 2104 gives, for every secret, time and body [receiving/digest]", () => {
  fc.assert(
    fc.property(
      secrets,
      fc.stringMatching(/^[0-9]{1,12}$/),
      fc.uint8Array({ maxLength: 300 }),
      (secret, text, body) => {
        expect(signatureDigest(secret, text, body)).toEqual(reference(secret, text, body));
      },
    ),
    { numRuns: 2000 },
  );
});

test("keys of every length around the block of 64 bytes, whatever their characters take", () => {
  const body = Buffer.from("{}");
  for (const character of ["k", "\u00e9", "\u20ac", "\u{1f600}", "\ud800"]) {
    for (let length = 1; length <= 140; length++) {
      const secret = character.repeat(length);
      expect(signatureDigest(secret, "1763712000", body)).toEqual(reference(secret, "1763712000", body));
    }
  }
});

test("a view of any kind counts by its bytes", () => {
  const { buffer } = Uint8Array.from({ length: 64 }, (_, index) => index);
  for (const view of [new Uint16Array(buffer, 8, 4), new DataView(buffer, 3, 9), new Float64Array(buffer)]) {
    expect(signatureDigest("s", "1", view as unknown as Uint8Array)).toEqual(reference("s", "1", view));
  }
});
