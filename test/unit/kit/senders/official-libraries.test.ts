import { sign, verify } from "@octokit/webhooks-methods";
import * as fc from "fast-check";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { Stripe } from "stripe";
import { Webhook as SvixWebhook } from "svix";
import twilioLibrary from "twilio";
import { expect, test } from "vitest";
import { verifySignature } from "../../../../src/kit/index.js";
import {
  github,
  standardWebhooks,
  stripe,
  svix,
  twilio,
} from "../../../../src/kit/senders/index.js";
import { verdictOf } from "./published-vectors.js";

// The senders' own libraries are a second opinion: a mistake that signing and verifying here share
// is found.
const RUNS = { numRuns: 200, seed: 20_261_126 };

const secrets = fc
  .string({ unit: "grapheme", minLength: 1 })
  .filter((secret) => secret !== "" && secret === secret.trim());
/** With blanks, text of all scripts, and numbers that parse to another text. */
const bodies = fc
  .tuple(fc.jsonValue({ stringUnit: "grapheme" }), fc.constantFrom(undefined, 1, "\t"))
  .map(([value, indent]) => JSON.stringify({ id: "evt_1", type: "ping", value }, null, indent));
const encodedSecrets = fc
  .tuple(fc.constantFrom("whsec_", ""), fc.uint8Array({ minLength: 24, maxLength: 64 }))
  .map(([prefix, bytes]) => prefix + Buffer.from(bytes).toString("base64"));
const ids = fc.string({
  unit: fc.constantFrom(..."abcXYZ019_-".split("")),
  minLength: 1,
  maxLength: 40,
});

test("stripe signs for us, and we for stripe; the service signs as it does [receiving/digest]", () => {
  const { webhooks } = Stripe;
  fc.assert(
    fc.property(
      bodies,
      secrets,
      fc.integer({ min: 1, max: 4_000_000_000 }),
      (payload, secret, timestamp) => {
        const [body, now] = [Buffer.from(payload), timestamp * 1000];
        const headers = {
          "stripe-signature": webhooks.generateTestHeaderString({ payload, secret, timestamp }),
        };
        const delivered = { headers, body, secrets: [secret], now };
        expect(verdictOf(stripe(), delivered)).toBe(0);
        const header = headers["stripe-signature"];
        expect(verifySignature({ header, body, secrets: [secret], now })).toEqual({
          ok: true,
          timestamp,
          secretIndex: 0,
        });
        const made = stripe().sign(body, { secret, now })["stripe-signature"] ?? "";
        expect(made).toBe(headers["stripe-signature"]);
        expect(webhooks.constructEvent(body, made, secret, 300, undefined, now)).toMatchObject({
          id: "evt_1",
        });
        expect(() =>
          webhooks.constructEvent(`${payload} `, made, secret, 300, undefined, now),
        ).toThrow();
      },
    ),
    RUNS,
  );
});

test.each([
  ["standardwebhooks", standardWebhooks(), StandardWebhook, "webhook"],
  ["svix", svix(), SvixWebhook, "svix"],
])("%s signs for us, and we for it", (_name, sender, Library, prefix) => {
  const now = Date.now();
  fc.assert(
    fc.property(bodies, encodedSecrets, ids, (payload, secret, id) => {
      const [body, library] = [Buffer.from(payload), new Library(secret)];
      const signature = library.sign(id, new Date(now), payload);
      const timestamp = String(Math.floor(now / 1000));
      const headers = {
        [`${prefix}-id`]: id,
        [`${prefix}-timestamp`]: timestamp,
        [`${prefix}-signature`]: signature,
      };
      expect(verdictOf(sender, { headers, body, secrets: [secret], now })).toBe(0);
      const made = sender.sign(body, { secret, now, headers: { [`${prefix}-id`]: id } });
      expect(made).toMatchObject(headers);
      expect(library.verify(payload, made)).toEqual(JSON.parse(payload));
      expect(() => library.verify(`${payload} `, made)).toThrow();
    }),
    RUNS,
  );
});

test("@octokit/webhooks-methods signs for us, and we for it", async () => {
  const sender = github();
  await fc.assert(
    fc.asyncProperty(bodies, secrets, async (payload, secret) => {
      const body = Buffer.from(payload);
      const headers = { "x-hub-signature-256": await sign(secret, payload) };
      expect(verdictOf(sender, { headers, body, secrets: [secret], now: 0 })).toBe(0);
      const made = sender.sign(body, { secret, now: 0 })["x-hub-signature-256"] ?? "";
      expect(await verify(secret, payload, made)).toBe(true);
      expect(await verify(secret, `${payload} `, made)).toBe(false);
    }),
    RUNS,
  );
});

const PUBLIC_URL = "https://example.com/sms";
/**
 * A query as it is sent: what `URLSearchParams` writes is not changed by a decoder that writes it
 * again.
 */
const queries = fc
  .array(fc.tuple(ids, fc.string({ unit: "grapheme" })), { maxLength: 3 })
  .map((pairs) => (pairs.length === 0 ? "" : `?${new URLSearchParams(pairs).toString()}`));
const hashes = fc.constantFrom(twilioLibrary.HMAC_SHA1, twilioLibrary.HMAC_SHA256);
/** The fields of a form, some of them several times. */
const fields = fc
  .array(
    fc.tuple(
      fc.oneof(ids, fc.string({ unit: "grapheme", minLength: 1 })),
      fc.array(fc.string({ unit: "grapheme" }), { minLength: 1, maxLength: 3 }),
    ),
    {
      minLength: 1,
      maxLength: 6,
    },
  )
  .map((pairs) => new Map(pairs));

test("twilio signs forms for us, and we for it", () => {
  fc.assert(
    fc.property(fields, secrets, queries, hashes, (form, secret, query, algorithm) => {
      const sender = twilio({ publicUrl: PUBLIC_URL + query });
      const parameters = Object.fromEntries(
        [...form].map(([name, all]) => [name, all.length === 1 ? all[0] : all]),
      );
      const sent = new URLSearchParams(
        [...form].flatMap(([name, all]) => all.map((value): [string, string] => [name, value])),
      );
      const body = Buffer.from(sent.toString());
      const url = PUBLIC_URL + query;
      const type = { "content-type": "application/x-www-form-urlencoded" };
      const signature = twilioLibrary.getExpectedTwilioSignature(
        secret,
        url,
        parameters,
        algorithm,
      );
      // The query of the request does not count.
      const delivered = { body, url: "/sms?another=1", secrets: [secret], now: 0 };
      expect(
        verdictOf(sender, { ...delivered, headers: { ...type, "x-twilio-signature": signature } }),
      ).toBe(0);
      const made = sender.sign(body, { secret, now: 0, headers: type })["x-twilio-signature"] ?? "";
      expect(twilioLibrary.validateRequest(secret, made, url, parameters)).toBe(true);
      expect(
        twilioLibrary.validateRequest(secret, made, url, { ...parameters, another: "1" }),
      ).toBe(false);
    }),
    RUNS,
  );
});

test("twilio signs JSON for us", () => {
  const sender = twilio({ publicUrl: `${PUBLIC_URL}?a=1` });
  fc.assert(
    fc.property(
      bodies.filter((payload) => /^[{[]/.test(payload)),
      secrets,
      (payload, secret) => {
        const query = `?a=1&bodySHA256=${twilioLibrary.getExpectedBodyHash(payload)}`;
        const signature = twilioLibrary.getExpectedTwilioSignature(secret, PUBLIC_URL + query, {});
        expect(
          twilioLibrary.validateRequestWithBody(secret, signature, PUBLIC_URL + query, payload),
        ).toBe(true);
        const headers = { "content-type": "application/json", "x-twilio-signature": signature };
        const delivered = { headers, url: `/sms${query}`, secrets: [secret], now: 0 };
        expect(verdictOf(sender, { ...delivered, body: Buffer.from(payload) })).toBe(0);
        expect(verdictOf(sender, { ...delivered, body: Buffer.from(`${payload} `) })).toBe(
          "signature_mismatch",
        );
      },
    ),
    RUNS,
  );
});
