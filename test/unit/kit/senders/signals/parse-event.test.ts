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
  const { data, ...rest } = signalEvent();
  const extra = { x_extra: { nested: [1, { deep: true }] } };
  const product = { ...data.product, ...extra };
  const event = { ...rest, ...extra, data: { ...data, ...extra, product } };
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
  const text = JSON.stringify(signalEvent({ id: "evt_1", data: { signal_id: 4711 } }));
  const read = (key: string, value: string) =>
    parseText(text.replace(new RegExp(`"${key}":[^,}]+`), `"${key}":${value}`));
  const large = { event: { data: { signal_id: 2 ** 53 } } };
  expect(read("signal_id", "9007199254740993")).toMatchObject(large);
  // Too large for it, which is no number.
  expect(read("magnitude", "1e999")).toEqual(unusable("data_invalid", "data.change.magnitude"));
  expect(read("id", '"evt_1","id":"evt_2"')).toMatchObject({ event: { id: "evt_2" } });
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

const NO_TEXTS = [undefined, null, 1, { text: "evt_1" }];

test.each(["id", "type"])("%s must be text that every store keeps as it is", (key) => {
  const refused = ["", "a\0b", "a\nb", "\u007f", "\u0085", "x".repeat(256), "\ud800", "a\udfffb"];
  for (const value of [...refused, ...NO_TEXTS])
    expect(parse(envelope({ [key]: value }))).toEqual(unusable("envelope_invalid", key));
  const taken = ["x", "x".repeat(255), "ключ 🔑 \u00a0", "'; DROP TABLE inbox; --", "../../etc"];
  for (const text of taken)
    expect(parse(envelope({ [key]: text })).kind, text).not.toBe("unusable");
});

test("an envelope without a sound time or a known version is unusable, and the path says so", () => {
  for (const created_at of NO_TEXTS)
    expect(parse(envelope({ created_at }))).toEqual(unusable("envelope_invalid", "created_at"));
  for (const version of [...NO_TEXTS, "2"])
    expect(parse(envelope({ version }))).toEqual(unusable("version_unsupported", "version"));
});

const { data: SIGNAL } = signalEvent();
const SIGNAL_TYPE = "signal.published";

test.each<[type: string, data: unknown, path: string, reason?: string]>([
  ...Object.keys(SIGNAL).map(
    (key) =>
      [SIGNAL_TYPE, { ...SIGNAL, [key]: undefined }, `data.${key}`] as [string, object, string],
  ),
  [SIGNAL_TYPE, undefined, "data"],
  [SIGNAL_TYPE, [], "data"],
  [SIGNAL_TYPE, { ...SIGNAL, product: { id: "4711", slug: "a" } }, "data.product.id"],
  [SIGNAL_TYPE, { ...SIGNAL, period: { start: "", end: 20_260_131 } }, "data.period.end"],
  ["webhook.test", {}, "data.message"],
  ["webhook.verification", {}, "data.challenge", "challenge_missing"],
  ["webhook.verification", { challenge: 1 }, "data.challenge", "challenge_missing"],
])(
  "data of %s that is not sound is invalid, and the path says where: %j",
  (type, data, path, reason) => {
    expect(parse(envelope({ type, data }))).toEqual(unusable(reason ?? "data_invalid", path));
  },
);

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
