import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parseSignatureHeader } from "../../../../../src/kit/senders/signature/header.js";

const HEX = "0123456789abcdef".repeat(4);

const hex64 = fc
  .array(fc.constantFrom(...Array.from("0123456789abcdef")), { minLength: 64, maxLength: 64 })
  .map((digits) => digits.join(""));
const digits = fc
  .array(fc.constantFrom(...Array.from("0123456789")), { minLength: 1, maxLength: 12 })
  .map((each) => each.join(""));

test("every header of the form is read, leading zeros and all [receiving/header-form]", () => {
  fc.assert(
    fc.property(digits, hex64, (timestampText, hex) => {
      expect(parseSignatureHeader(`t=${timestampText},v1=${hex}`)).toEqual({
        ok: true,
        timestampText,
        timestamp: Number(timestampText),
        digestHex: hex,
      });
    }),
  );
});

test("no header is told apart from a bad one", () => {
  for (const absent of [undefined, null]) {
    expect(parseSignatureHeader(absent)).toEqual({ ok: false, reason: "signature_missing" });
  }
  expect(parseSignatureHeader("")).toEqual({ ok: false, reason: "signature_malformed" });
});

test.each([
  ["a blank before", ` t=1,v1=${HEX}`],
  ["a newline after", `t=1,v1=${HEX}\n`],
  ["no t", `v1=${HEX}`],
  ["13 digits in t", `t=1234567890123,v1=${HEX}`],
  ["a sign in t", `t=-1,v1=${HEX}`],
  ["a fraction in t", `t=1.5,v1=${HEX}`],
  ["digits of another script in t", `t=\u0661,v1=${HEX}`],
  ["63 digits in v1", `t=1,v1=${HEX.slice(1)}`],
  ["65 digits in v1", `t=1,v1=${HEX}0`],
  ["capitals in v1", `t=1,v1=${HEX.toUpperCase()}`],
  ["v0 beside v1", `t=1,v0=${HEX},v1=${HEX}`],
  ["two v1", `t=1,v1=${HEX},v1=${HEX}`],
  ["the other order", `v1=${HEX},t=1`],
  ["the header twice", `t=1,v1=${HEX}, t=1,v1=${HEX}`],
  ["a capital key", `T=1,v1=${HEX}`],
  ["an extra part", `t=1,v1=${HEX},x=1`],
])("a header with %s is malformed", (_what, header) => {
  expect(parseSignatureHeader(header)).toEqual({ ok: false, reason: "signature_malformed" });
});

test("a value that is no text never throws and is never read", () => {
  fc.assert(
    fc.property(
      fc.anything({ withSymbol: true, withBigInt: true, withNullPrototype: true } as never),
      (header) => {
        if (typeof header === "string") return;
        expect(parseSignatureHeader(header).ok).toBe(false);
      },
    ),
  );
  const text = `t=1,v1=${HEX}`;
  for (const header of [[text], { toString: () => text }, Buffer.from(text), new String(text)]) {
    expect(parseSignatureHeader(header)).toEqual({ ok: false, reason: "signature_malformed" });
  }
});
