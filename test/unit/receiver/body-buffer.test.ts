import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createBodyBuffer } from "../../../src/receiver/body-buffer.js";

const pieces = fc.array(fc.uint8Array({ maxLength: 3000 }), { maxLength: 40 });

test("whatever the pieces are, the bytes are theirs in their order, in a buffer of exactly their size", () => {
  fc.assert(
    fc.property(pieces, fc.nat(200_000), (parts, maxBytes) => {
      const body = createBodyBuffer(maxBytes);
      for (const part of parts) body.append(part);
      const bytes = body.take();
      expect(Buffer.compare(bytes, Buffer.concat(parts))).toBe(0);
      expect(bytes.buffer.byteLength).toBe(bytes.byteLength);
    }),
  );
});

test("what is announced before a piece is what the buffer then takes: twice the bytes at most, or 512", () => {
  fc.assert(
    fc.property(pieces, (parts) => {
      const body = createBodyBuffer(200_000);
      let received = 0;
      for (const part of parts) {
        const announced = body.capacityWith(part);
        body.append(part);
        received += part.byteLength;
        expect(announced).toBeGreaterThanOrEqual(received);
        expect(announced).toBeLessThanOrEqual(Math.max(512, 2 * received));
      }
    }),
  );
});

test("a buffer does not grow past the limit of the body", () => {
  const body = createBodyBuffer(1000);
  body.append(new Uint8Array(600));
  expect(body.capacityWith(new Uint8Array(1))).toBe(1000);
  body.append(new Uint8Array(1));
  expect(body.capacityWith(new Uint8Array(399))).toBe(1000);
});

test("a body in one piece is not copied", () => {
  const body = createBodyBuffer(1000);
  const whole = Buffer.alloc(700, "x");
  body.append(whole);
  expect(body.take()).toBe(whole);
});
