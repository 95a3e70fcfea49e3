import { expect, test } from "vitest";
import { callCli } from "../cli/call-cli.js";
import { checkAll, runCheck } from "../cli/probe/check/run-check.js";
import { serveProcess } from "../cli/probe/check/serve-process.js";

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
  // A wrong clock shifts both bounds.
  ["clock-ahead", { failed: ["age.past", "age.future"] }],
  // Its answers mark no duplicates, so whether it accepts an event twice cannot be seen.
  ["no-dedupe", { advice: ["dedupe.told"] }],
  ["forgets-on-restart", { failed: ["dedupe.restart"] }],
  ["looks-then-inserts", { failed: ["dedupe.simultaneous"] }],
  [
    "duplicate-is-409",
    { failed: ["dedupe.acknowledged"], advice: ["dedupe.conflict", "dedupe.told"] },
  ],
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

test.each(NODE_FAULTS)("on node:http, %s is caught by its own check", async (fault, caught) => {
  const receiver = await serveProcess("node", fault);
  // The restart waits for a process, so it is left out for other faults.
  const { run, failed, advice } = await (fault === "forgets-on-restart"
    ? checkAll(receiver)
    : runCheck(receiver.url));
  expect({ failed, advice }).toEqual({ failed: [], advice: [], ...caught });
  expect(run.exitCode).toBe(caught.failed === undefined ? 0 : 1);
});

test("a receiver that works before it answers is caught by the time of its answers", async () => {
  const { failed, advice } = await checkAll(
    await serveProcess("node", "slow"),
    "--ack-limit",
    "0.5",
  );
  expect({ failed, advice }).toEqual({ failed: [], advice: ["answers.time"] });
});

test("a receiver whose clock is off is told so", async () => {
  const { url } = await serveProcess("node", "clock-ahead");
  const args = ["--only", "events.test", "--only", "age."];
  const { summary } = await runCheck(url, ...args);
  expect(Math.abs(summary.clockOffsetMs - 20_000)).toBeLessThan(1500);
  expect((await callCli(["check", url, ...args])).stdout).toMatch(/\d+\.\d s ahead of/);
});
