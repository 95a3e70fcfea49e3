import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parseEvent, SIGNAL_TYPES, type ParsedEvent } from "../../../../../src/kit/index.js";
import { signalEvent } from "../../../../../src/kit/testing/index.js";

const parse = (value: unknown): ParsedEvent => parseText(JSON.stringify(value));
const parseText = (text: string): ParsedEvent => parseEvent(Buffer.from(text));
const envelope = (over: Record<string, unknown> = {}) => ({
  id: "evt_1",
  version: "1",
  type: "webhook.test",
  created_at: "2026-01-01T00:00:00.000Z",
  data: { message: "hello" },
  ...over,
});
const unusable = (reason: string, path?: string) => ({
  kind: "unusable",
  reason,
  ...(path !== undefined && { path }),
});

test.each([...SIGNAL_TYPES, "a_type_of_next_year", ""])(
  "a signal of type %j is known",
  (signal_type) => {
    const event = signalEvent({ data: { signal_type } });
    expect(parse(event)).toEqual({ kind: "known", event });
  },
);

test("extra properties are kept at every level", () => {
  const extra = { x_extra: { nested: [1, { deep: true }] } };
  const withExtra = (value: unknown): unknown =>
    typeof value !== "object"
      ? value
      : {
          ...Object.fromEntries(
            Object.entries(value as object).map(([name, each]) => [name, withExtra(each)]),
          ),
          ...extra,
        };
  const event = withExtra(signalEvent());
  expect(parse(event)).toEqual({ kind: "known", event });
});

test.each(["webhook.paused", "constructor", "__proto__", "toString", "valueOf"])(
  "an event of type %s is unknown, whatever its data",
  (type) => {
    for (const data of [null, 7, "text", [], { anything: true }]) {
      const event = envelope({ type, data });
      expect(parse(event)).toEqual({ kind: "unknown", event });
    }
  },
);

test("numbers are read as JSON.parse reads them, and of duplicate keys the last counts", () => {
  const text = JSON.stringify(
    signalEvent({ data: { signal_id: 4711, change: { magnitude: 0.5 } } }),
  );
  expect(parseText(text.replaceAll("4711", "9007199254740993"))).toMatchObject({
    event: { data: { signal_id: 2 ** 53 } },
  });
  // Too large for it, which is no number.
  expect(parseText(text.replace('"magnitude":0.5', '"magnitude":1e999'))).toMatchObject(
    unusable("data_invalid", "data.change.magnitude"),
  );
  const twice = JSON.stringify(envelope()).replace(
    '"id":"evt_1"',
    '"id":"evt_first","id":"evt_last"',
  );
  expect(parseText(twice)).toMatchObject({ kind: "known", event: { id: "evt_last" } });
});

test.each([
  ["[]", "not_an_object"],
  ["null", "not_an_object"],
  ["", "not_json"],
  ['{"id":', "not_json"],
  ["{}{}", "not_json"],
])("%j is unusable", (text, reason) => {
  expect(parseText(text)).toEqual(unusable(reason));
});

test.each(["id", "version", "type", "created_at"])(
  "an envelope without a sound %s is unusable, and the path says so",
  (key) => {
    const reason = key === "version" ? "version_unsupported" : "envelope_invalid";
    for (const value of [
      undefined,
      null,
      1,
      { text: "evt_1" },
      ...(key === "version" ? ["2"] : []),
    ])
      expect(parse(envelope({ [key]: value }))).toEqual(unusable(reason, key));
  },
);

test.each(["id", "type"])("%s must be text that every store keeps as it is", (key) => {
  const refused = ["", "a\0b", "a\nb", "\u007f", "\u0085", "x".repeat(256), "\ud800", "a\udfffb"];
  for (const text of refused)
    expect(parse(envelope({ [key]: text })), text).toEqual(unusable("envelope_invalid", key));
  const taken = ["x", "x".repeat(255), "ключ 🔑 \u00a0", "'; DROP TABLE inbox; --", "../../etc"];
  for (const text of taken)
    expect(parse(envelope({ [key]: text })).kind, text).not.toBe("unusable");
});

const { data: SIGNAL } = signalEvent();
test.each<[type: string, data: unknown, path: string]>([
  ...Object.keys(SIGNAL).map((key): [string, unknown, string] => [
    "signal.published",
    { ...SIGNAL, [key]: undefined },
    `data.${key}`,
  ]),
  ...[undefined, null, [], "text"].map((data): [string, unknown, string] => [
    "signal.published",
    data,
    "data",
  ]),
  ["signal.published", { ...SIGNAL, product: { id: "4711", slug: "a" } }, "data.product.id"],
  ["signal.published", { ...SIGNAL, period: { start: "", end: 20_260_131 } }, "data.period.end"],
  ["webhook.test", {}, "data.message"],
])("data of %s that is not sound is invalid, and the path says where: %j", (type, data, path) => {
  expect(parse(envelope({ type, data }))).toEqual(unusable("data_invalid", path));
});

test("a verification without a challenge has its own reason", () => {
  for (const data of [{}, { challenge: null }, { challenge: 1 }])
    expect(parse(envelope({ type: "webhook.verification", data }))).toEqual(
      unusable("challenge_missing", "data.challenge"),
    );
});

test("the path of an unusable event never holds a value of it", () => {
  const secretive = "do-not-repeat-me";
  const anyValue = fc.oneof(
    fc.jsonValue(),
    fc.constant(secretive),
    fc.constant({ [secretive]: secretive }),
  );
  const known = fc.constantFrom("signal.published", "webhook.test", "webhook.verification");
  const anyEvent = fc.dictionary(fc.constantFrom(...Object.keys(envelope())), anyValue);
  const soundEnvelope = fc.record({ type: known, data: anyValue }).map((over) => envelope(over));
  fc.assert(
    fc.property(fc.oneof(anyEvent, soundEnvelope), (event) => {
      const parsed = parse(event);
      if (parsed.kind !== "unusable") return;
      expect(parsed.path ?? "").toMatch(/^[a-z_.]*$/);
      expect(JSON.stringify(parsed)).not.toContain(secretive);
    }),
  );
});
