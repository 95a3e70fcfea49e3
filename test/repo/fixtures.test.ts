import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { z } from "zod";
import { parseEvent, SIGNAL_TYPES } from "../../src/kit/index.js";
import type { signalPublishedSchema } from "../../src/service/contract/sent-events.js";
import { testWith } from "../prerequisites.js";

const FIXTURES = new URL("../../fixtures/", import.meta.url);
const DAY_MS = 24 * 60 * 60 * 1000;

type SignalFixture = z.infer<typeof signalPublishedSchema>;

interface Expectation {
  status: number;
  body?: Record<string, unknown>;
  code?: string;
}

interface Delivery {
  expect: Expectation;
  expectRepeat?: Expectation;
}

const read = (path: string) => readFileSync(new URL(path, FIXTURES));
const readJson = <T>(path: string) => JSON.parse(read(path).toString()) as T;
const names = (folder: string) => readdirSync(new URL(folder, FIXTURES)).sort();

const signalFiles = names("signals/");
const eventFiles = names("events/");
const allEventPaths = [
  ...signalFiles.map((file) => `signals/${file}`),
  ...eventFiles.map((file) => `events/${file}`),
];
const signals = signalFiles.map((file) => readJson<SignalFixture>(`signals/${file}`));
const { deliveries } = readJson<{ deliveries: Delivery[] }>("deliveries.json");

const repeated = (list: readonly string[]) =>
  list.filter((item, index) => list.indexOf(item) !== index);

test("there is one fixture for each of the 38 signal types and no other", () => {
  expect(SIGNAL_TYPES).toHaveLength(38);
  expect(signalFiles).toEqual(SIGNAL_TYPES.map((type) => `${type}.json`).sort());
});

test("the other events are one verification and one test, named after their types", () => {
  expect(eventFiles).toEqual(["webhook.test.json", "webhook.verification.json"]);
  for (const file of eventFiles)
    expect(`${readJson<SignalFixture>(`events/${file}`).type}.json`).toBe(file);
});

test.each(allEventPaths)("%s is parsed as known", (path) => {
  expect(parseEvent(read(path)).kind).toBe("known");
});

test("every signal has all the fields of the service's document and no other", () => {
  const data =
    "signal_id signal_type product title summary change observed_at period published_at evidence_summary url";
  for (const signal of signals) {
    expect(Object.keys(signal)).toEqual(["id", "version", "type", "created_at", "data"]);
    expect(Object.keys(signal.data)).toEqual(data.split(" "));
    expect(Object.keys(signal.data.product)).toEqual(["id", "slug"]);
    expect(Object.keys(signal.data.change)).toEqual(["direction", "magnitude", "before", "after"]);
    expect(Object.keys(signal.data.change.before)).toEqual(["value", "unit"]);
    expect(Object.keys(signal.data.change.after)).toEqual(["value", "unit"]);
    expect(Object.keys(signal.data.period)).toEqual(["start", "end"]);
  }
});

test("no two events share an id, and no two signals a number, a product or a text", () => {
  expect(repeated(allEventPaths.map((path) => readJson<SignalFixture>(path).id))).toEqual([]);
  expect(repeated(signals.map(({ data }) => String(data.signal_id)))).toEqual([]);
  expect(repeated(signals.map(({ data }) => String(data.product.id)))).toEqual([]);
  expect(repeated(signals.map(({ data }) => data.product.slug))).toEqual([]);
  expect(
    repeated(signals.flatMap(({ data }) => [data.title, data.summary, data.evidence_summary])),
  ).toEqual([]);
});

/** What holds of every signal. */
const FACTS: Readonly<Record<string, (signal: SignalFixture) => boolean>> = {
  "its id agrees with its data": ({ id, data }) =>
    id === `sig_${data.signal_id}_${data.product.id}`,
  "its address is its product's page in the catalogue": ({ data }) =>
    data.url === `https://catalog.example/en/tools/${data.product.slug}`,
  "its times follow each other: period, observed, published, created within 24 hours": (signal) => {
    const { period, observed_at, published_at } = signal.data;
    const texts = [period.start, period.end, observed_at, published_at, signal.created_at];
    const times = texts.map(Date.parse);
    const isInOrder = times.every(
      (time, index) => index === 0 || time >= (times[index - 1] ?? NaN),
    );
    return isInOrder && Date.parse(signal.created_at) - Date.parse(published_at) <= DAY_MS;
  },
  "its magnitude is the relative change, or 1 where there is nothing to divide by": ({ data }) => {
    const { before, after, magnitude } = data.change;
    if (before.value === 0 || before.unit !== after.unit) return magnitude === 1;
    return Math.abs(magnitude - Math.abs(after.value - before.value) / before.value) <= 0.00005;
  },
  "its direction agrees with the values, and a smaller rank is a better one": ({ data }) => {
    const { before, after, direction } = data.change;
    if (before.value === after.value) return false;
    const isBetter = after.value > before.value !== (before.unit === "rank");
    return direction === "changed" || direction === (isBetter ? "up" : "down");
  },
};

test.each(Object.entries(FACTS))("of a signal %s", (_, holds) => {
  const failing = signals.filter((signal) => !holds(signal));
  expect(failing.map(({ data }) => data.signal_type)).toEqual([]);
});

test("several signals hold text beyond ASCII, so that a length in characters is a wrong length", () => {
  const multibyte = signalFiles.filter(
    (file) => read(`signals/${file}`).toString().length !== read(`signals/${file}`).length,
  );
  expect(multibyte.length).toBeGreaterThanOrEqual(5);
});

test("every answer that a single delivery can provoke is expected somewhere", () => {
  const answers = deliveries.flatMap((delivery) => [
    delivery.expect,
    delivery.expectRepeat ?? delivery.expect,
  ]);
  const seen = new Set(
    answers.map(({ status, body, code }) => `${status} ${code ?? JSON.stringify(body)}`),
  );
  // The other codes need a slow sender, a host that is set up wrongly, or a receiver in trouble.
  expect([...seen].sort()).toEqual(
    [
      '200 {"received":true}',
      '200 {"received":true,"duplicate":true}',
      '200 {"received":true,"quarantined":true}',
      '200 {"challenge":"{challenge}"}',
      "401 signature_missing",
      "401 signature_malformed",
      "401 signature_mismatch",
      "401 timestamp_out_of_tolerance",
      "405 method_not_allowed",
      "413 body_too_large",
      "415 encoding_unsupported",
    ].sort(),
  );
});

const hasTools = ["bash", "openssl"].every(
  (tool) => spawnSync(tool, ["--version"]).error === undefined,
);

testWith(hasTools)("openssl prints signatures.json byte for byte", () => {
  const script = fileURLToPath(new URL("signatures.sh", FIXTURES));
  expect(
    execFileSync("bash", [script], { maxBuffer: 16 * 1024 * 1024 }).equals(read("signatures.json")),
  ).toBe(true);
});
