import { expect, test } from "vitest";
import { checkAll, runCheck } from "../cli/check/run-check.js";
import { serveProcess } from "../cli/check/serve-process.js";

/** What a fault is caught by: these required checks, these advised ones, and no other. */
interface Caught {
  failed?: readonly string[];
  advice?: readonly string[];
}

type Fault = readonly [fault: string, caught: Caught];

const NODE_FAULTS: readonly Fault[] = [
  ["no-signature-check", { failed: ["signature.forged"], advice: ["signature.form"] }],
  ["reads-no-digest", { failed: ["signature.forged"], advice: ["signature.form"] }],
  ["takes-unsigned", { failed: ["signature.missing"] }],
  [
    "signs-reserialised",
    // Some bodies end in blanks, and bytes that are no UTF-8 come out as others.
    {
      failed: ["signature.raw-bytes"],
      advice: ["dedupe.conflict", "bodies.unusable", "bodies.chunked", "bodies.large"],
    },
  ],
  // Two checks, since it is wrong in both directions.
  ["no-age-check", { failed: ["age.past", "age.future"] }],
  ["past-only", { failed: ["age.future"] }],
  ["future-only", { failed: ["age.past"] }],
  ["tolerance-301", { failed: ["age.bounds"] }],
  ["tolerance-299", { failed: ["age.bounds"], advice: ["age.exactly-300-old"] }],
  ["fractions-of-a-second", { advice: ["age.exactly-300-old"] }],
  // A wrong clock shifts both bounds.
  ["clock-ahead", { failed: ["age.past", "age.future"] }],
  ["no-dedupe", { failed: ["dedupe.once"], advice: ["dedupe.told"] }],
  ["forgets-on-restart", { failed: ["dedupe.restart"] }],
  ["looks-then-inserts", { failed: ["dedupe.simultaneous"] }],
  ["duplicate-is-409", { failed: ["dedupe.acknowledged"], advice: ["dedupe.conflict", "dedupe.told"] }],
  ["no-challenge", { failed: ["handshake.challenge"] }],
  ["challenge-once", { failed: ["handshake.challenge"] }],
  ["answers-any-challenge", { failed: ["handshake.signed"] }],
  ["throws-on-unknown-type", { failed: ["events.unknown-type"] }],
  ["closed-signal-types", { failed: ["events.open-values"] }],
  // One for the types that are known, one for all others.
  ["handles-few-types", { failed: ["events.signals", "events.open-values"] }],
  ["lenient-header", { advice: ["signature.form"] }],
  ["silent", { advice: ["dedupe.told"] }],
];

test("a right receiver on node:http passes everything, advice included", async () => {
  const receiver = await serveProcess("node");
  const { run, failed, advice, skipped, summary } = await checkAll(receiver, "--strict");
  expect({ failed, advice, skipped }).toEqual({ failed: [], advice: [], skipped: [] });
  expect(summary).toMatchObject({ ok: true, complete: true });
  expect(run.exitCode).toBe(0);
  expect(receiver.restarts()).toBe(1);
});

/** They wait for the beginning of a second, or for a process. Left out for faults of other groups, as is the count. */
const SLOW_CHECKS = ["age.bounds", "age.exactly-300-old", "dedupe.restart"];

test.each(NODE_FAULTS)("on node:http, %s is caught by its own check", async (fault, caught) => {
  const groups = [caught.failed ?? [], caught.advice ?? []].flat().map((id) => id.replace(/\..*/, "."));
  const others = SLOW_CHECKS.filter((id) => !groups.some((group) => id.startsWith(group)));
  const receiver = await serveProcess("node", fault);
  const skips = others.flatMap((id) => ["--skip", id]);
  const isCounted = groups.includes("dedupe.");
  const { run, failed, advice } = await (isCounted ? checkAll(receiver, ...skips) : runCheck(receiver.url, ...skips));
  expect({ failed, advice }).toEqual({ failed: [], advice: [], ...caught });
  expect(run.exitCode).toBe(caught.failed === undefined ? 0 : 1);
});

test("a receiver that works before it answers is caught by the time of its answers", async () => {
  const { failed, advice } = await checkAll(await serveProcess("node", "slow"), "--ack-limit", "0.5");
  expect({ failed, advice }).toEqual({ failed: [], advice: ["answers.time"] });
});

test("a receiver whose clock is off is told so", async () => {
  const { url } = await serveProcess("node", "clock-ahead");
  const { summary, skipped } = await runCheck(url, "--only", "events.test", "--only", "age.");
  expect(skipped).toEqual(["age.bounds", "age.exactly-300-old"]);
  expect(Math.abs(summary.clockOffsetMs - 20_000)).toBeLessThan(1500);
  const alone = await runCheck(url, "--only", "age.bounds");
  expect(alone.skipped).toEqual(["age.bounds"]);
  expect(alone.rows[0]?.reason).toMatch(/\d+\.\d s ahead of/);
});
