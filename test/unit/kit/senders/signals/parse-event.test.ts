import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parseEvent, SIGNAL_TYPES, type ParsedEvent } from "../../../../../src/kit/index.js";
import { signalEvent } from "../../../../../src/kit/testing/index.js";

const parse = (value: unknown): ParsedEvent => parseEvent(Buffer.from(JSON.stringify(value)));
const parseText = (text: string): ParsedEvent => parseEvent(Buffer.from(text));
const envelope = (over: Record<string, unknown> = {}) => ({
  id: "evt_1",
  version: "1",
  type: "webhook.test",
  created_at: "2026-01-01T00:00:00.000Z",
  data: { message: "hello" },
  ...over,
});

test.each([...SIGNAL_TYPES, "a_type_of_next_year", ""])(
  "a signal of type %j is known",
  (signal_type) => {
    const event = signalEvent({ data: { signal_type } });
    expect(parse(event)).toEqual({ kind: "known", event });
  },
);

test("extra properties are kept at every level", () => {
  const { data, ...rest } = signalEvent();
  const { product, change, period, ...plain } = data;
  const extra = { x_extra: { nested: [1, { deep: true }] } };
  const event = {
    ...rest,
    ...extra,
    data: {
      ...plain,
      ...extra,
      product: { ...product, ...extra },
      period: { ...period, ...extra },
      change: {
        ...change,
        ...extra,
        before: { ...change.before, ...extra },
        after: { ...change.after, ...extra },
      },
    },
  };
  expect(parse(event)).toEqual({ kind: "known", event });
});

test("an event of another type is unknown, whatever its data", () => {
  for (const data of [undefined, null, 7, "text", [], { anything: true }]) {
    const event = envelope({ type: "webhook.paused", data });
    expect(parse(event)).toEqual({ kind: "unknown", event: JSON.parse(JSON.stringify(event)) });
  }
});

test.each(["constructor", "__proto__", "toString", "hasOwnProperty", "valueOf"])(
  "an event of type %s is unknown and finds no handler by accident",
  (type) => {
    const parsed = parse(envelope({ type }));
    expect([parsed.kind, parsed.kind === "unknown" && parsed.event.type]).toEqual([
      "unknown",
      type,
    ]);
  },
);

test("integers beyond 2^53 are taken, rounded as JSON.parse rounds them", () => {
  const text = JSON.stringify(signalEvent({ data: { signal_id: 4711 } })).replaceAll(
    "4711",
    "9007199254740993",
  );
  const parsed = parseText(text);
  expect(
    parsed.kind === "known" &&
      parsed.event.type === "signal.published" &&
      parsed.event.data.signal_id,
  ).toBe(2 ** 53);
});

test("of duplicate keys the last counts", () => {
  const text = JSON.stringify(envelope()).replace(
    '"id":"evt_1"',
    '"id":"evt_first","id":"evt_last"',
  );
  expect(parseText(text)).toMatchObject({ kind: "known", event: { id: "evt_last" } });
});

test("a number that is too large for JSON.parse does not pass as one", () => {
  const event = signalEvent({ data: { change: { magnitude: 0.5 } } });
  const text = JSON.stringify(event).replace('"magnitude":0.5', '"magnitude":1e999');
  expect(parseText(text)).toMatchObject({
    kind: "unusable",
    reason: "data_invalid",
    path: "data.change.magnitude",
  });
});

// --- unusable

test.each([
  ["an array", "[]", "not_an_object"],
  ["null", "null", "not_an_object"],
  ["nothing", "", "not_json"],
  ["half an object", '{"id":', "not_json"],
  ["two objects", "{}{}", "not_json"],
  ["NaN", "NaN", "not_json"],
])("%s is unusable", (_what, text, reason) => {
  expect(parseText(text)).toEqual({ kind: "unusable", reason });
});

test.each(["id", "version", "type", "created_at"])(
  "an envelope without %s is unusable, and the path says so",
  (key) => {
    const reason = key === "version" ? "version_unsupported" : "envelope_invalid";
    expect(parse(envelope({ [key]: undefined }))).toEqual({ kind: "unusable", reason, path: key });
    expect(parse(envelope({ [key]: null }))).toEqual({ kind: "unusable", reason, path: key });
    expect(parse(envelope({ [key]: { text: "evt_1" } }))).toEqual({
      kind: "unusable",
      reason,
      path: key,
    });
  },
);

test.each(["2", "1.0", "", 1, null])("version %j is unsupported", (version) => {
  expect(parse(envelope({ version }))).toEqual({
    kind: "unusable",
    reason: "version_unsupported",
    path: "version",
  });
});

test.each(["id", "type"])("%s must be text that every store keeps as it is", (key) => {
  const refused = ["", "a\0b", "a\nb", "\u007f", "\u0085", "x".repeat(256), "\ud800", "a\udfffb"];
  for (const text of refused) {
    expect(parse(envelope({ [key]: text })), JSON.stringify(text)).toEqual({
      kind: "unusable",
      reason: "envelope_invalid",
      path: key,
    });
  }
  const taken = [
    "x",
    "x".repeat(255),
    "sig_1_2",
    "ключ 🔑 \u00a0",
    "'; DROP TABLE inbox; --",
    "../../etc/passwd",
  ];
  for (const text of taken)
    expect(parse(envelope({ [key]: text })).kind, text).not.toBe("unusable");
});

test.each([
  [
    "signal.published",
    ["signal_id", "signal_type", "product", "title", "summary", "change", "period", "url"],
  ],
  ["webhook.test", ["message"]],
])("data of %s without a property is invalid, and the path says which", (type, keys) => {
  const whole: Record<string, unknown> =
    type === "signal.published" ? signalEvent().data : { message: "hello" };
  for (const key of keys) {
    const parsed = parse(envelope({ type, data: { ...whole, [key]: undefined } }));
    expect(parsed).toEqual({ kind: "unusable", reason: "data_invalid", path: `data.${key}` });
  }
  for (const data of [undefined, null, [], "text"]) {
    expect(parse(envelope({ type, data }))).toEqual({
      kind: "unusable",
      reason: "data_invalid",
      path: "data",
    });
  }
});

test.each([
  ["data.product.id", { product: { id: "4711" } }],
  ["data.change.before.value", { change: { before: { value: "1,000" } } }],
  ["data.change.after.unit", { change: { after: { unit: 1 } } }],
  ["data.period.end", { period: { end: 20_260_131 } }],
])("a value of another kind at %s is invalid", (path, data) => {
  const parsed = parse(signalEvent({ data: data as never }));
  expect(parsed).toEqual({ kind: "unusable", reason: "data_invalid", path });
});

test("a verification without a challenge has its own reason", () => {
  for (const data of [{}, { challenge: null }, { challenge: 1 }]) {
    const parsed = parse(envelope({ type: "webhook.verification", data }));
    expect(parsed).toEqual({
      kind: "unusable",
      reason: "challenge_missing",
      path: "data.challenge",
    });
  }
});

test("the path of an unusable event never holds a value of it", () => {
  const secretive = "do-not-repeat-me";
  const anyValue = fc.oneof(
    fc.jsonValue(),
    fc.constant(secretive),
    fc.constant({ [secretive]: secretive }),
  );
  const anyEvent = fc.record({
    id: anyValue,
    version: anyValue,
    type: anyValue,
    created_at: anyValue,
    data: anyValue,
  });
  const known = fc.constantFrom("signal.published", "webhook.test", "webhook.verification");
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
