import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { fullJitter } from "../../src/inbox/dispatch/backoff.js";
import { createBreaker } from "../../src/inbox/dispatch/breaker.js";
import { CRASH_LOOP, MAX_CRASHES } from "../../src/inbox/crashes.js";
import { MOST_SIGNAL_TYPES } from "../../src/cli/registration/signal-type-list.js";
import { RetryLater, SIGNAL_TYPES } from "../../src/index.js";
import { resolveOptions } from "../../src/receiver/options.js";
import { memoryStore } from "../../src/stores/memory.js";
import { createManualClock } from "../../src/testing/index.js";
import { readDocument } from "./markdown.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string): string => readFileSync(`${ROOT}${path}`, "utf8");

/** A number that the code writes as a product of numbers. */
function constantOf(path: string, name: string): number {
  const written = new RegExp(`const ${name}\\b[^=]* = ([\\d_ *]+);`).exec(read(path))?.[1];
  if (written === undefined) throw new Error(`${path} has no number ${name}`);
  return written.split("*").reduce((product, factor) => product * Number(factor.replaceAll("_", "").trim()), 1);
}

/** The text of a page, with one blank for whatever blanks and line ends are between words. */
const textOf = (page: string): string => readDocument(`docs/${page}.md`).lines.join(" ").replaceAll(/\s+/g, " ");

/** A number in the text of a page. */
function saidIn(page: string, sentence: RegExp): number {
  const said = sentence.exec(textOf(page))?.[1];
  if (said === undefined) throw new Error(`${page} does not say ${sentence.source}`);
  return Number(said.replaceAll(/[ _]/g, ""));
}

const minimal = { secrets: "whsec_test", store: memoryStore(), onSignal: () => undefined, logger: false } as const;
const { handoff, retention, bodyTimeoutMs, ackTimeoutMs } = resolveOptions(minimal);
const drainMarginMs = constantOf("src/receiver/receiver.ts", "DRAIN_MARGIN_MS");
const firstDelaySeconds = fullJitter({}, () => 1)(1) / 1000;

const WRITTEN: readonly (readonly [page: string, sentence: RegExp, actual: number])[] = [
  ["promises", /id is remembered \((\d+) days after/, retention.keyDays],
  ["promises", /plus (\d+) s\) before/, constantOf("src/inbox/dispatch/dispatcher.ts", "LEASE_MARGIN_MS") / 1000],
  ["hand-off", /There are (\d+) attempts/, handoff.maxAttempts],
  [
    "hand-off",
    /When (\d+) different events have failed/,
    constantOf("src/inbox/dispatch/breaker.ts", "BREAKER_THRESHOLD"),
  ],
  ["hand-off", /drops its payload after (\d+) days/, retention.payloadDays],
  ["running", /lose their payload after (\d+) days/, retention.payloadDays],
  ["running", /and their id after (\d+)\./, retention.keyDays],
  [
    "running",
    /free space less (\d+) MiB/,
    constantOf("src/stores/sqlite/limit-size.ts", "DISK_RESERVE_BYTES") / 2 ** 20,
  ],
  ["running", /: (\d+) for a slow delivery/, (bodyTimeoutMs + ackTimeoutMs) / 1000],
  ["secrets", /of the (\d+) signal types/, SIGNAL_TYPES.length],
  ["secrets", /takes at most (\d+) of the/, MOST_SIGNAL_TYPES],
  ["receiver", /of the last (\d+), each/, constantOf("src/time/durations.ts", "KEPT")],
  ["receiver", /\(([\d ]+) ms by default\)/, constantOf("src/receiver/receiver.ts", "DEFAULT_GRACE_MS")],
  ["receiver", /by default (\d+) seconds more than/, drainMarginMs / 1000],
  ["frameworks", /for at most (\d+) seconds/, (handoff.timeoutMs + drainMarginMs) / 1000],
  ["receiver", /string of 1 to (\d+) characters/, constantOf("src/events/parse-event.ts", "MAX_NAME_LENGTH")],
  ["testing", /after `timeoutMs` \((\d+)\)/, constantOf("src/testing/wait-for-event.ts", "DEFAULT_TIMEOUT_MS")],
  ["testing", /due within (\d+) s/, firstDelaySeconds],
];

test.each(WRITTEN)("the number in %s that %s finds is the code's", (page, sentence, actual) => {
  expect(saidIn(page, sentence)).toBe(actual);
});

test("the delays between the attempts are those of the page", () => {
  const bound = fullJitter({}, () => 1);
  const text = textOf("hand-off");
  const first = /a bound of (\d+) s, (\d+) s, (\d+) s and so on/.exec(text)?.slice(1).map(Number);
  expect([1, 2, 3].map((attempt) => bound(attempt) / 1000)).toEqual(first);
  expect(bound(1000) / 3_600_000).toBe(saidIn("hand-off", /at most (\d+) h/));
  const between = Array.from({ length: handoff.maxAttempts - 1 }, (_, index) => bound(index + 1));
  const days = between.reduce((sum, delay) => sum + delay) / 86_400_000;
  expect(days.toFixed(1)).toBe(/add up to ([\d.]+) days/.exec(text)?.[1]);
});

test("the breaker probes when the page says it does", async () => {
  const text = textOf("hand-off");
  const said = /again after (\d+) s, then (\d+) s, (\d+) s, up to every (\d+) s/.exec(text)?.slice(1).map(Number);
  const clock = createManualClock(0);
  const probes: number[] = [];
  let openedAt = 0;
  const onProbe = (): void => {
    probes.push((clock.elapsed() - openedAt) / 1000);
    openedAt = clock.elapsed();
    breaker.failed(0);
  };
  const breaker = createBreaker(clock, { onOpen: () => undefined, onProbe, onClose: () => undefined });
  for (let event = 0; event < 10; event++) breaker.failed(event);
  await clock.advance(600_000);
  breaker.close();
  expect([...probes.slice(0, 3), probes.at(-1)]).toEqual(said);
});

test("the crash at which an event is dead is that of the page", () => {
  const ordinals = ["first", "second", "third", "fourth", "fifth"];
  const text = textOf("hand-off");
  expect(text).toContain(`At the ${ordinals[MAX_CRASHES - 1]} crash an event is dead with reason \`${CRASH_LOOP}\``);
});

test("RetryLater waits a minute by default, as the page says", () => {
  expect(textOf("hand-off")).toContain("after `delayMs` (one minute unless given)");
  expect(new RetryLater().delayMs).toBe(60_000);
});

test("the oldest SQLite and the least retention are those of the page", () => {
  const [, oldest = ""] = /OLDEST_SQLITE = \[([\d, ]+)\]/.exec(read("src/sqlite/sqlite-driver.ts")) ?? [];
  expect(textOf("errors")).toContain(`an SQLite below ${oldest.split(", ").join(".")};`);
  const least = saidIn("receiver", /remembered; at least (\d+) /);
  const retaining = (keyDays: number) => () => resolveOptions({ ...minimal, retention: { keyDays, payloadDays: 0 } });
  expect(retaining(least)).not.toThrow();
  expect(retaining(least - 0.01)).toThrow("keyDays");
});
