import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { signBody, verifySignature } from "../../../../../src/kit/index.js";

interface Vector {
  name: string;
  secret: string;
  timestamp: number;
  body?: string;
  bodyBase64: string;
  header: string;
}

const file = new URL("../../../../../fixtures/signatures.json", import.meta.url);
const { vectors } = JSON.parse(readFileSync(file, "utf8")) as { vectors: Vector[] };

test("signing gives the header that openssl gives, which verifies", () => {
  expect(vectors.length).toBeGreaterThan(10);
  for (const { name, secret, timestamp, header, body: text, bodyBase64 } of vectors) {
    const body = Buffer.from(bodyBase64, "base64");
    for (const each of text === undefined ? [body] : [body, text])
      expect(signBody({ body: each, secret, timestamp }), name).toBe(header);
    const verify = (key: string) =>
      verifySignature({ header, body, secrets: [key], now: timestamp * 1000 });
    expect(verify(secret), name).toEqual({ ok: true, timestamp, secretIndex: 0 });
    expect(verify(`${secret}x`), name).toEqual({ ok: false, reason: "signature_mismatch" });
  }
});
