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

test("there are vectors to hold the code against", () => {
  expect(vectors.length).toBeGreaterThan(10);
});

const named = vectors.map((vector) => [vector.name, vector] as const);

test.each(named)(
  "%s: signing gives the header that openssl gives",
  (_name, { secret, timestamp, header, ...vector }) => {
    expect(signBody({ body: Buffer.from(vector.bodyBase64, "base64"), secret, timestamp })).toBe(
      header,
    );
    if (vector.body !== undefined)
      expect(signBody({ body: vector.body, secret, timestamp })).toBe(header);
  },
);

test.each(named)(
  "%s: the header of openssl verifies",
  (_name, { secret, timestamp, header, bodyBase64 }) => {
    const body = Buffer.from(bodyBase64, "base64");
    const now = timestamp * 1000;
    expect(verifySignature({ header, body, secrets: [secret], now })).toEqual({
      ok: true,
      timestamp,
      secretIndex: 0,
    });
    expect(verifySignature({ header, body, secrets: [`${secret}x`], now })).toEqual({
      ok: false,
      reason: "signature_mismatch",
    });
  },
);
