import * as fc from "fast-check";
import { Stripe } from "stripe";
import { expect, test } from "vitest";
import { verifySignature } from "../../../../../src/kit/index.js";

// The scheme is Stripe's, and so Stripe's own library is a second opinion on it.
const payloads = fc.string({ unit: "grapheme", minLength: 1 });
const secrets = fc
  .string({ unit: "grapheme", minLength: 1 })
  .filter((secret) => secret.trim() !== "");

test("a header made by the stripe package verifies here [receiving/digest]", () => {
  fc.assert(
    fc.property(
      payloads,
      secrets,
      fc.integer({ min: 1, max: 999_999_999_999 }),
      (payload, secret, timestamp) => {
        const header = Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp });
        const input = {
          header,
          body: Buffer.from(payload),
          secrets: [secret],
          now: timestamp * 1000,
        };
        expect(verifySignature(input)).toEqual({ ok: true, timestamp, secretIndex: 0 });
      },
    ),
  );
});
