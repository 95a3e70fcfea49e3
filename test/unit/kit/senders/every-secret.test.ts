import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { expect, onTestFinished, test } from "vitest";
import { verdictOf } from "./published-vectors.js";
import { own } from "./sender-rig.js";

// If a match ended the search, the time that an answer takes would tell which secret or candidate
// it was.

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

const PAIRS = {
  ed25519: () => crypto.generateKeyPairSync("ed25519"),
  ecdsa: () => crypto.generateKeyPairSync("ec", { namedCurve: "P-256" }),
};

test.each(["sha256", "ed25519", "ecdsa"] as const)(
  "with %s each candidate is compared with each secret, whichever matches, or none",
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
    const secrets = ["another secret", known, "a third secret"];
    const calls = countCalls();
    for (const values of [
      [right, wrong, wrong],
      [wrong, wrong, right],
      [wrong, wrong, wrong],
    ]) {
      for (const at of [0, 1, 2]) {
        Object.assign(calls, NONE);
        const order = [...secrets.slice(at), ...secrets.slice(0, at)];
        const delivered = { headers: { "x-own": values.join(",") }, body, secrets: order, now: 1 };
        const wanted = values.includes(right) ? order.indexOf(known) : "signature_mismatch";
        expect(verdictOf(sender, delivered)).toBe(wanted);
        expect(calls).toEqual(
          digest === "sha256"
            ? { createHmac: 3, timingSafeEqual: 9, verify: 0 }
            : { createHmac: 0, timingSafeEqual: 0, verify: 3 },
        );
      }
    }
  },
);
