import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { fullJitter } from "../../src/inbox/backoff.js";
import { createBreaker } from "../../src/inbox/breaker.js";
import { CRASH_LOOP, MAX_CRASHES, SUSPECT_CRASHES } from "../../src/inbox/store.js";
import { MOST_SIGNAL_TYPES } from "../../src/cli/commands/register/signal-type-list.js";
import { RetryLater, SIGNAL_TYPES } from "../../src/index.js";
import { resolveOptions } from "../../src/receiver/options.js";
import { memoryStore } from "../../src/stores/memory.js";
import { createManualClock } from "../../src/testing/index.js";
import { readMarkdown } from "./markdown.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string): string => readFileSync(`${ROOT}${path}`, "utf8");
const README = readMarkdown(read("README.md"));

/** A number that the code writes as a product of numbers. */
function constantOf(path: string, name: string): number {
  const written = new RegExp(`const ${name}\\b[^=]* = ([\\d_ *]+);`).exec(read(path))?.[1];
  if (written === undefined) throw new Error(`${path} has no number ${name}`);
  return written.split("*").reduce((product, factor) => product * Number(factor.replaceAll("_", "").trim()), 1);
}

/** A number in the prose of a section, whatever blanks and line ends are between. */
function saidIn(heading: string, sentence: RegExp): number {
  const text = README.section(heading).replaceAll(/\s+/g, " ");
  const said = sentence.exec(text)?.[1];
  if (said === undefined) throw new Error(`"${heading}" does not say ${sentence.source}`);
  return Number(said.replaceAll(/[ _]/g, ""));
}

const minimal = { secrets: "whsec_test", store: memoryStore(), onSignal: () => undefined, logger: false } as const;
const { handoff, retention } = resolveOptions(minimal);
const firstDelaySeconds = fullJitter({}, () => 1)(1) / 1000;

const WRITTEN: readonly (readonly [heading: string, sentence: RegExp, actual: number])[] = [
  ["What is promised, and what is not", /id is remembered \((\d+) days after/, retention.keyDays],
  [
    "What is promised, and what is not",
    /plus (\d+) s\) before/,
    constantOf("src/inbox/dispatcher.ts", "LEASE_MARGIN_MS") / 1000,
  ],
  ["Handing off", /Retries\.\*\* (\d+) attempts/, handoff.maxAttempts],
  ["Handing off", /After (\d+) failures in a row/, constantOf("src/inbox/breaker.ts", "BREAKER_THRESHOLD")],
  ["Handing off", /forget its payload after (\d+) days/, retention.payloadDays],
  ["Running it", /lose their payload after (\d+) days/, retention.payloadDays],
  ["Running it", /and their id after (\d+);/, retention.keyDays],
  [
    "Running it",
    /free space less (\d+) MiB/,
    constantOf("src/stores/sqlite/limit-size.ts", "DISK_RESERVE_BYTES") / 2 ** 20,
  ],
  ["Secrets", /of the (\d+) signal types/, SIGNAL_TYPES.length],
  ["Register it at the service", /takes at most (\d+), so all/, MOST_SIGNAL_TYPES],
  ["Register it at the service", /so all (\d+) are two/, SIGNAL_TYPES.length],
  ["What it tells of itself", /of the last (\d+), each/, constantOf("src/time/durations.ts", "KEPT")],
  ["The receiver", /\(([\d ]+) ms by default\)/, constantOf("src/receiver/receiver.ts", "DEFAULT_GRACE_MS")],
  [
    "What an event must have",
    /string of 1 to (\d+) characters/,
    constantOf("src/events/envelope.ts", "MAX_NAME_LENGTH"),
  ],
  [
    "Testing your handler",
    /after `timeoutMs` \((\d+)\)/,
    constantOf("src/testing/wait-for-event.ts", "DEFAULT_TIMEOUT_MS"),
  ],
  ["Testing your handler", /due within (\d+) s/, firstDelaySeconds],
];

test.each(WRITTEN)("the number under %s that %s finds is the code's", (heading, sentence, actual) => {
  expect(saidIn(heading, sentence)).toBe(actual);
});

test("the delays between the attempts are those of the README", () => {
  const bound = fullJitter({}, () => 1);
  const text = README.section("Handing off").replaceAll(/\s+/g, " ");
  const first = /a bound of (\d+) s, (\d+) s, (\d+) s and so on/.exec(text)?.slice(1).map(Number);
  expect([1, 2, 3].map((attempt) => bound(attempt) / 1000)).toEqual(first);
  expect(bound(1000) / 3_600_000).toBe(saidIn("Handing off", /at most (\d+) h/));
  const between = Array.from({ length: handoff.maxAttempts - 1 }, (_, index) => bound(index + 1));
  const days = between.reduce((sum, delay) => sum + delay) / 86_400_000;
  expect(days.toFixed(1)).toBe(/add up to ([\d.]+) days/.exec(text)?.[1]);
});

test("the breaker probes when the README says it does", async () => {
  const text = README.section("Handing off").replaceAll(/\s+/g, " ");
  const said = /again after (\d+) s, then (\d+) s, (\d+) s, up to every (\d+) s/.exec(text)?.slice(1).map(Number);
  const clock = createManualClock(0);
  const probes: number[] = [];
  let openedAt = 0;
  const onProbe = (): void => {
    probes.push((clock.elapsed() - openedAt) / 1000);
    openedAt = clock.elapsed();
    breaker.failed();
  };
  const breaker = createBreaker(clock, { onOpen: () => undefined, onProbe, onClose: () => undefined });
  for (let failure = 0; failure < 10; failure++) breaker.failed();
  await clock.advance(600_000);
  breaker.close();
  expect([...probes.slice(0, 3), probes.at(-1)]).toEqual(said);
});

test("the crashes after which an event runs alone, and is dead, are those of the README", () => {
  const ordinals = ["first", "second", "third", "fourth", "fifth"];
  const text = README.section("Handing off").replaceAll(/\s+/g, " ");
  expect(text).toContain(`in flight at ${["no", "one", "two", "three"][SUSPECT_CRASHES]} crashes`);
  expect(text).toContain(`at the ${ordinals[MAX_CRASHES - 1]} it is dead with reason \`${CRASH_LOOP}\``);
});

test("RetryLater waits a minute by default, as the README says", () => {
  expect(README.section("Handing off")).toContain("after `delayMs` (one minute unless\n  given)");
  expect(new RetryLater().delayMs).toBe(60_000);
});

test("the oldest SQLite and the least retention are those of the README", () => {
  const [, oldest = ""] = /OLDEST_SQLITE = \[([\d, ]+)\]/.exec(read("src/sqlite/sqlite-driver.ts")) ?? [];
  expect(README.section("`store_unsupported`")).toContain(`an SQLite below ${oldest.split(", ").join(".")},`);
  const least = saidIn("Options", /remembered; at least (\d+) /);
  const retaining = (keyDays: number) => () => resolveOptions({ ...minimal, retention: { keyDays, payloadDays: 0 } });
  expect(retaining(least)).not.toThrow();
  expect(retaining(least - 0.01)).toThrow("keyDays");
});
