import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { expect, onTestFinished, test } from "vitest";
import { deliveredOf, VECTORS, verdictOf } from "./published-vectors.js";
import { own } from "./sender-rig.js";

// If a match ended the search, the time that an answer takes would tell which secret or candidate
// it was.

const OTHERS = ["whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "whsec_BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB"];

const NONE = { createHmac: 0, timingSafeEqual: 0, verify: 0 };
const COUNTED = Object.keys(NONE) as (keyof typeof NONE)[];

/** Counts the calls of `node:crypto` until the test ends. */
function countCalls(): typeof NONE {
  const calls = { ...NONE };
  const original = { ...crypto };
  for (const name of COUNTED) {
    const call = original[name] as (...args: unknown[]) => unknown;
    const counting = (...args: unknown[]) => {
      calls[name] += 1;
      return call(...args);
    };
    Object.assign(crypto, { [name]: counting });
  }
  syncBuiltinESMExports();
  onTestFinished(() => {
    for (const name of COUNTED) Object.assign(crypto, { [name]: original[name] });
    syncBuiltinESMExports();
  });
  return calls;
}

test.each(VECTORS.map(({ name, sender, vector }) => [name, sender, vector] as const))(
  "%s takes as much work whichever secret signed it, and when none did",
  (name, sender, vector) => {
    const delivered = deliveredOf(vector);
    const candidates =
      vector.headers[sender.signatureHeader]?.match(/(?:v1|h1)[=,][0-9A-Za-z+/]{43}/g)?.length ?? 1;
    const calls = countCalls();
    // Each of Twilio's spellings of the address is another text.
    const texts = { "twilio/quote-in-the-address": 4 }[name] ?? (sender.name === "twilio" ? 2 : 1);
    for (const [index, secrets] of [
      [0, [vector.secret, ...OTHERS]],
      [2, [...OTHERS, vector.secret]],
      ["signature_mismatch", [...OTHERS, `${vector.secret.slice(0, -4)}AAAA`]],
    ] as const) {
      Object.assign(calls, NONE);
      expect(verdictOf(sender, { ...delivered, secrets })).toBe(index);
      expect(calls).toEqual({
        createHmac: 3 * texts,
        timingSafeEqual: 3 * texts * candidates,
        verify: 0,
      });
    }
  },
);

const PAIRS = {
  ed25519: () => crypto.generateKeyPairSync("ed25519"),
  ecdsa: () => crypto.generateKeyPairSync("ec", { namedCurve: "P-256" }),
};

test.each(["sha256", "ed25519", "ecdsa"] as const)(
  "with %s each candidate is compared, whichever matches",
  (digest) => {
    let [secret, known] = ["a secret", "a secret"];
    if (digest !== "sha256") {
      const { privateKey, publicKey } = PAIRS[digest]();
      secret = String(privateKey.export({ format: "pem", type: "pkcs8" }));
      known = String(publicKey.export({ format: "pem", type: "spki" }));
    }
    const list = { between: ",", assign: "=", signature: "v1" };
    const sender = own({ signature: { header: "x-own", list, digest } });
    const body = Buffer.from("{}");
    const [right, wrong] = [body, Buffer.from("[]")].map(
      (signed) => sender.sign(signed, { secret, now: 1 })["x-own"],
    );
    const calls = countCalls();
    for (const values of [
      [right, wrong, wrong],
      [wrong, wrong, right],
      [wrong, wrong, wrong],
    ]) {
      Object.assign(calls, NONE);
      const delivered = { headers: { "x-own": values.join(",") }, body, secrets: [known], now: 1 };
      expect(verdictOf(sender, delivered)).toBe(values.includes(right) ? 0 : "signature_mismatch");
      expect(calls).toEqual(
        digest === "sha256"
          ? { createHmac: 1, timingSafeEqual: 3, verify: 0 }
          : { createHmac: 0, timingSafeEqual: 0, verify: 3 },
      );
    }
  },
);
