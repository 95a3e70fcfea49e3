import { inspect } from "node:util";
import * as fc from "fast-check";
import { expect, onTestFinished, test, vi } from "vitest";
import { parseJson } from "../../../../src/base/text/parse-json.js";
import { parseEvent } from "../../../../src/kit/index.js";
import { signalEvent } from "../../../../src/kit/testing/index.js";

const UTF8_BOM = Buffer.from([0xef, 0xbb, 0xbf]);
const json = (text: string | Uint8Array) =>
  parseJson(typeof text === "string" ? Buffer.from(text) : text);

test("a value without __proto__ comes back as JSON.parse gives it", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), (text) => {
      if (text.includes("__proto__")) return;
      expect(json(text)).toEqual({ ok: true, value: JSON.parse(text) });
    }),
  );
});

test("arbitrary bytes never make it throw, nor does what is no bytes", () => {
  const kindOf = (body: unknown) => parseEvent(body as Uint8Array).kind;
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(["known", "unknown", "unusable"]).toContain(kindOf(bytes));
    }),
    { numRuns: 1000 },
  );
  for (const body of [undefined, "text", {}]) expect(kindOf(body)).toBe("unusable");
});

test.each([
  String.raw`{"__proto__":{"polluted":true}}`,
  String.raw`{"__\u0070roto__":{"polluted":true}}`,
  String.raw`{"\u005f\u005fproto\u005f\u005f":{"polluted":true}}`,
  String.raw`{"a":[{"b":{"__proto__":{"polluted":true}}}]}`,
  String.raw`{"__proto__":1,"__\u0070roto__":{"polluted":true}}`,
])("a key __proto__ is dropped however it is spelt, and pollutes nothing: %s", (text) => {
  const { value } = json(text) as { value: object };
  // With the keys that JSON.stringify does not show.
  expect(inspect(value, { depth: 9, showHidden: true })).not.toMatch(/polluted|__proto__/);
  // The accident that it is dropped for: a copy by assignment runs the setter.
  expect(Object.assign({}, value)).not.toHaveProperty("polluted");
  expect({}).not.toHaveProperty("polluted");
});

test("__proto__ as a value, and escapes that spell something else, are kept", () => {
  const text = String.raw`{"a":"__proto__","b":"\u0041","__proto":1}`;
  expect(json(text)).toEqual({ ok: true, value: { a: "__proto__", b: "A", __proto: 1 } });
});

test.each(["[", '{"a":', '{"__proto__":', String.raw`{"\u0061":`])(
  "100,000 times %s never throws",
  (open) => {
    const depth = 100_000;
    const deep = `${open.repeat(depth)}1${(open === "[" ? "]" : "}").repeat(depth)}`;
    expect([undefined, "nested_too_deep"]).toContain((json(deep) as { reason?: string }).reason);
    const event = JSON.stringify(signalEvent()).replace(/\}$/, `,"extra":${deep}}`);
    expect(["known", "unusable"]).toContain(parseEvent(Buffer.from(event)).kind);
  },
);

test.each([
  ["a lone continuation byte", [0x80]],
  ["a coded surrogate", [0xed, 0xa0, 0x80]],
  ["a cut-off sequence", [0xf0, 0x9f, 0x9a]],
  ["Latin-1", [0xe9, 0x22]],
])("%s is not UTF-8, and the next body is read as ever, one BOM and all", (_what, bytes) => {
  const broken = Buffer.concat([Buffer.from('{"id":"'), Buffer.from(bytes), Buffer.from('"}')]);
  const notUtf8 = { ok: false, reason: "not_utf8" };
  expect([json(broken), json(broken.subarray(0, 7 + bytes.length))]).toEqual([notUtf8, notUtf8]);
  const next = Buffer.concat([UTF8_BOM, Buffer.from("{}")]);
  expect(json(next)).toEqual({ ok: true, value: {} });
  expect(json(Buffer.concat([UTF8_BOM, next]))).toEqual({ ok: false, reason: "not_json" });
});

const LEVELS = 1000;
const nested = (levels: number, inside: string): string =>
  "[".repeat(levels) + inside + "]".repeat(levels);
const LARGE = 300_000;

test("a large body that is nested too deep is refused before it is parsed", () => {
  const parse = vi.spyOn(JSON, "parse");
  onTestFinished(() => parse.mockRestore());
  const text = `"${"x".repeat(LARGE)}"`;
  for (const body of [
    nested(LEVELS + 1, text),
    `[${text},${nested(LEVELS, "1")}]`,
    "[".repeat(LARGE),
  ]) {
    expect(json(body)).toEqual({ ok: false, reason: "nested_too_deep" });
  }
  // As many objects in each other, behind a text that ends with a backslash.
  const objects = `{"${"x".repeat(LARGE)}\\\\":${'{"a":'.repeat(LEVELS)}1${"}".repeat(LEVELS + 1)}`;
  expect(json(objects)).toEqual({ ok: false, reason: "nested_too_deep" });
  expect(parse).not.toHaveBeenCalled();
});

test("brackets in texts are no levels, and closed levels do not add up", () => {
  for (const text of [
    "[".repeat(LARGE),
    "]".repeat(LARGE),
    '\\"['.repeat(LARGE),
    "{\\\\".repeat(LARGE),
  ]) {
    expect(json(`{"a":"${text}"}`).ok).toBe(true);
  }
  expect(json(nested(LEVELS, `"${"x".repeat(LARGE)}"`)).ok).toBe(true);
  expect(json(`[${"[[{}]],".repeat(LARGE)}1]`).ok).toBe(true);
});
