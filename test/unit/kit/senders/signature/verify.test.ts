import { createHmac } from "node:crypto";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  signBody,
  verifySignature,
  type VerifySignatureInput,
} from "../../../../../src/kit/index.js";

const T = 1_795_255_200;
const SECRET = "whsec_unit";
const BODY = Buffer.from('{"id":"evt_1"}');
const HEADER = signBody({ body: BODY, secret: SECRET, timestamp: T });
const MISMATCH = { ok: false, reason: "signature_mismatch" };

const verify = (over: Partial<Record<keyof VerifySignatureInput, unknown>> = {}) =>
  verifySignature({
    header: HEADER,
    body: BODY,
    secrets: [SECRET],
    now: T * 1000,
    ...over,
  } as VerifySignatureInput);

const letters = (of: string, least: number, most: number) =>
  fc.string({ unit: fc.constantFrom(...of.split("")), minLength: least, maxLength: most });

test("every header of the form is read, leading zeros and all [receiving/header-form]", () => {
  const [digits, hex] = [letters("0123456789", 1, 12), letters("0123456789abcdef", 64, 64)];
  fc.assert(
    fc.property(digits, hex, (t, v1) => {
      expect(verify({ header: `t=${t},v1=${v1}` })).toEqual(MISMATCH);
      for (const header of [` t=${t},v1=${v1}`, `t=${t},v1=${v1}\n`, `t=\u0661${t},v1=${v1}`])
        expect(verify({ header })).toEqual({ ok: false, reason: "signature_malformed" });
    }),
  );
});

test("nothing that stands where something else belongs makes it throw or pass", () => {
  expect((verifySignature as () => unknown)()).toEqual({ ok: false, reason: "signature_missing" });
  fc.assert(
    fc.property(fc.anything(), (value) => {
      expect(verifySignature(value as never).ok).toBe(false);
      expect(verify({ header: value }).ok).toBe(false);
      expect(verify({ body: ArrayBuffer.isView(value) ? "bytes" : value }).ok).toBe(false);
    }),
  );
  for (const body of [undefined, BODY.toString(), [...BODY]])
    expect(verify({ body })).toEqual(MISMATCH);
  for (const value of [1n, Symbol("now"), { valueOf: () => 1n }, Object.create(null), "now", NaN]) {
    expect(verify({ now: value }).ok).toBe(false);
    expect(verify({ toleranceSeconds: value }).ok).toBe(false);
  }
});

test("a caller without types who passes one secret as text is not open to its single letters", () => {
  const header = signBody({ body: BODY, secret: "w", timestamp: T });
  expect(verify({ header, secrets: "whsec_unit" })).toEqual(MISMATCH);
});

test.each([
  [299_000, true],
  [300_000, true],
  // The last millisecond of the 300th second still counts, the one before the 300th before does not.
  [300_999, true],
  [-300_001, false],
  [301_000, false],
  [10_000, true, 10],
  [11_000, false, 10],
])(
  "a signature is judged %i ms after it as %s, with a tolerance of 300 s or the caller's [limits/signature-age] [receiving/constant-time-and-age]",
  (ms, ok, toleranceSeconds?: number) => {
    for (const sign of ms % 1000 === 0 ? [1, -1] : [1])
      expect(verify({ now: T * 1000 + sign * ms, toleranceSeconds })).toEqual(
        ok
          ? { ok: true, timestamp: T, secretIndex: 0 }
          : { ok: false, reason: "timestamp_out_of_tolerance" },
      );
  },
);

test("a body of more than 2 GiB is a mismatch, since no HMAC of Node takes it", () => {
  const body = Object.defineProperty(Buffer.from(""), "byteLength", { value: 2 ** 31 });
  expect(verify({ body })).toEqual(MISMATCH);
});

test("now is the system's when it is left out", () => {
  const header = signBody({ body: BODY, secret: SECRET });
  expect(verifySignature({ header, body: BODY, secrets: [SECRET] }).ok).toBe(true);
  expect(verify({ now: undefined })).toEqual({ ok: false, reason: "timestamp_out_of_tolerance" });
});

test("a blank secret matches nothing, even what was signed with it", () => {
  for (const blank of ["", " ", "\t\n", "\u00a0", undefined, null, 0]) {
    const hmac = createHmac("sha256", String(blank ?? ""))
      .update(`${T}.`)
      .update(BODY);
    const header = `t=${T},v1=${hmac.digest("hex")}`;
    expect(verify({ header, secrets: [blank] }), JSON.stringify(blank)).toEqual(MISMATCH);
    // Nor does it keep a usable one behind it from being tried.
    expect(verify({ secrets: [blank, SECRET] })).toMatchObject({ ok: true, secretIndex: 1 });
  }
});
