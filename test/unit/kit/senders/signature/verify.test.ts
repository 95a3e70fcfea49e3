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

test("a change of any one character of the header is refused", () => {
  for (let at = 0; at < HEADER.length; at++) {
    for (const other of "09afAF=,t ") {
      const header = HEADER.slice(0, at) + other + HEADER.slice(at + 1);
      if (header !== HEADER) expect(verify({ header }).ok, header).toBe(false);
    }
  }
});

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

test("nothing that stands where the header, the body or the secrets belong makes it throw or pass", () => {
  fc.assert(
    fc.property(fc.anything(), (value) => {
      expect(verify({ header: value }).ok).toBe(false);
      expect(verify({ body: ArrayBuffer.isView(value) ? "bytes" : value }).ok).toBe(false);
    }),
  );
  for (const body of [undefined, null, BODY.toString(), { id: "evt_1" }, [...BODY], 1]) {
    expect(verify({ body })).toEqual(MISMATCH);
  }
});

test("nothing that is passed as the input, the time or the tolerance makes it throw or pass", () => {
  expect((verifySignature as () => unknown)()).toEqual({ ok: false, reason: "signature_missing" });
  fc.assert(
    fc.property(fc.anything(), (value) => {
      expect(verifySignature(value as never).ok).toBe(false);
    }),
  );
  for (const value of [
    1n,
    Symbol("now"),
    { valueOf: () => 1n },
    Object.create(null),
    "now",
    Number.NaN,
  ]) {
    expect(verify({ now: value }).ok).toBe(false);
    expect(verify({ toleranceSeconds: value }).ok).toBe(false);
  }
});

test("a caller without types who passes one secret as text is not open to its single letters", () => {
  const header = signBody({ body: BODY, secret: "w", timestamp: T });
  expect(verify({ header, secrets: "whsec_unit" })).toEqual(MISMATCH);
});

test.each([
  [299, true],
  [300, true],
  [301, false],
])(
  "a signature %i s away from now is judged alike in both directions [limits/signature-age]",
  (distance, ok) => {
    for (const sign of [1, -1]) {
      expect(verify({ now: (T + sign * distance) * 1000 })).toEqual(
        ok
          ? { ok: true, timestamp: T, secretIndex: 0 }
          : { ok: false, reason: "timestamp_out_of_tolerance" },
      );
    }
  },
);

test("the last millisecond of the 300th second still counts, the one before the 300th before does not", () => {
  expect(verify({ now: (T + 300) * 1000 + 999 }).ok).toBe(true);
  expect(verify({ now: (T - 300) * 1000 - 1 }).ok).toBe(false);
});

test("a body of more than 2 GiB is a mismatch, since no HMAC of Node takes it", () => {
  const body = Object.defineProperty(Buffer.from(""), "byteLength", { value: 2 ** 31 });
  expect(verify({ body })).toEqual({ ok: false, reason: "signature_mismatch" });
});

test("the tolerance is the caller's, and 300 s without one [receiving/constant-time-and-age]", () => {
  expect(verify({ now: (T + 10) * 1000, toleranceSeconds: 10 }).ok).toBe(true);
  expect(verify({ now: (T + 11) * 1000, toleranceSeconds: 10 }).ok).toBe(false);
  expect(verify({ now: (T + 300) * 1000, toleranceSeconds: undefined }).ok).toBe(true);
});

test("now is the system's when it is left out", () => {
  const header = signBody({ body: BODY, secret: SECRET });
  expect(verifySignature({ header, body: BODY, secrets: [SECRET] }).ok).toBe(true);
  expect(verify({ now: undefined })).toEqual({ ok: false, reason: "timestamp_out_of_tolerance" });
});

test("a blank secret matches nothing, even what was signed with it", () => {
  for (const blank of ["", " ", "\t\n", "\u00a0", undefined, null, 0]) {
    const digest = createHmac("sha256", String(blank ?? ""))
      .update(`${T}.`)
      .update(BODY)
      .digest("hex");
    expect(
      verify({ header: `t=${T},v1=${digest}`, secrets: [blank] }),
      JSON.stringify(blank),
    ).toEqual(MISMATCH);
    // Nor does it keep a usable one behind it from being tried.
    expect(verify({ secrets: [blank, SECRET] })).toEqual({
      ok: true,
      timestamp: T,
      secretIndex: 1,
    });
  }
});
