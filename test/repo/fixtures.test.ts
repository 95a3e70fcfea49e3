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

/** The names of the items that do not pass, so that a failing test shows them. */
const failing = <T>(list: readonly T[], name: (item: T) => string, passes: (item: T) => boolean) =>
  list.filter((item) => !passes(item)).map(name);
const failingSignals = (passes: (signal: SignalFixture) => boolean) =>
  failing(signals, (signal) => signal.data.signal_type, passes);

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

test("every event is parsed as known", () => {
  expect(failing(allEventPaths, String, (path) => parseEvent(read(path)).kind === "known")).toEqual(
    [],
  );
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

test("a signal's id agrees with its data", () => {
  expect(
    failingSignals(({ id, data }) => id === `sig_${data.signal_id}_${data.product.id}`),
  ).toEqual([]);
});

test("a signal's address is its product's page in the catalogue", () => {
  expect(
    failingSignals(
      ({ data }) => data.url === `https://catalog.example/en/tools/${data.product.slug}`,
    ),
  ).toEqual([]);
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

test("a signal's times follow each other: period, observed, published, created, within 24 hours of publishing", () => {
  const inOrder = ({ created_at, data }: SignalFixture) => {
    const times = [
      data.period.start,
      data.period.end,
      data.observed_at,
      data.published_at,
      created_at,
    ].map(Date.parse);
    const ordered = times.every((time, index) => index === 0 || time >= (times[index - 1] ?? NaN));
    return ordered && Date.parse(created_at) - Date.parse(data.published_at) <= DAY_MS;
  };
  expect(failingSignals(inOrder)).toEqual([]);
});

test("the magnitude is the relative change, or 1 where there is nothing to divide by", () => {
  const agrees = ({ data: { change } }: SignalFixture) => {
    const { before, after, magnitude } = change;
    if (before.value === 0 || before.unit !== after.unit) return magnitude === 1;
    return Math.abs(magnitude - Math.abs(after.value - before.value) / before.value) <= 0.00005;
  };
  expect(failingSignals(agrees)).toEqual([]);
});

test("the direction agrees with the values, and a smaller rank is a better one", () => {
  const agrees = ({ data: { change } }: SignalFixture) => {
    if (change.direction === "changed") return change.before.value !== change.after.value;
    const grew = change.after.value > change.before.value;
    const up = change.before.unit === "rank" ? !grew : grew;
    return change.before.value !== change.after.value && change.direction === (up ? "up" : "down");
  };
  expect(failingSignals(agrees)).toEqual([]);
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
