import { createHmac } from "node:crypto";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { signatureDigest } from "../../../src/signature/digest.js";

function reference(secret: string, text: string, body: NodeJS.ArrayBufferView): string {
  return createHmac("sha256", secret).update(`${text}.`).update(body).digest("hex");
}

const secrets = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 40 }),
  // Around the block of 64 bytes, where a key begins to be hashed first.
  fc.string({ unit: "grapheme", minLength: 18, maxLength: 80 }),
  fc.string({ unit: "binary", maxLength: 80 }),
);

test("it is what createHmac gives, for every secret, time and body [receiving/digest]", () => {
  fc.assert(
    fc.property(
      secrets,
      fc.stringMatching(/^[0-9]{1,12}$/),
      fc.uint8Array({ maxLength: 300 }),
      (secret, text, body) => {
        expect(signatureDigest(secret, text, body)).toBe(reference(secret, text, body));
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
      expect(signatureDigest(secret, "1763712000", body)).toBe(reference(secret, "1763712000", body));
    }
  }
});

test("bodies of every size around the scratch memory, in any order, leave nothing of one in the next", () => {
  const scratch = 257 * 1024;
  for (const size of [
    scratch,
    0,
    scratch - 75,
    scratch - 74,
    1,
    scratch - 76,
    scratch + 1,
    300_000,
    262_144,
    65_536,
    5,
  ]) {
    const body = Buffer.alloc(size, size % 251);
    expect(signatureDigest("whsec_test", "1763712000", body)).toBe(reference("whsec_test", "1763712000", body));
  }
});

test("a view of any kind counts by its bytes", () => {
  const { buffer } = Uint8Array.from({ length: 64 }, (_, index) => index);
  for (const view of [new Uint16Array(buffer, 8, 4), new DataView(buffer, 3, 9), new Float64Array(buffer)]) {
    expect(signatureDigest("s", "1", view as unknown as Uint8Array)).toBe(reference("s", "1", view));
  }
});
