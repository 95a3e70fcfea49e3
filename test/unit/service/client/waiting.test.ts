import { expect, test } from "vitest";
import type { InvestigationTask } from "../../../../src/service/client/index.js";
import { failedTask, refusal, task, TASK_ID } from "./answers.js";
import { clientOn, failureOf } from "./client-on.js";
import { serve, serveAnswers, type Answer } from "./serve-answers.js";
import { createWatchedClock, settleOn } from "./watched-clock.js";

const running = (seconds: number | null): InvestigationTask =>
  task({ status: "running", stage: "investigating", poll_after_seconds: seconds });
const hangUp: Answer = (request) => void request.socket.destroy();

/** A server that knows when, on that clock, it was asked. */
async function servePolls(answers: readonly [Answer, ...Answer[]]) {
  const clock = createWatchedClock(Date.parse("2026-11-21T12:00:00Z"));
  const times: number[] = [];
  const { baseUrl, seen } = await serve((index) => {
    times.push(clock.elapsed());
    return answers[Math.min(index, answers.length - 1)] as Answer;
  });
  const { client } = clientOn(baseUrl, {}, clock);
  return { client, clock, times, seen };
}

test("a task is polled after poll_after_seconds, onProgress gets each answer, and the last answer is the result", async () => {
  const { client, clock, times } = await servePolls([
    { status: 202, json: task() },
    { json: task() },
    { json: running(90) },
    { json: failedTask() },
  ]);
  const { task_id } = await client.startInvestigation({ slug: "larkvoice", confirmUsage: true });
  const reported: string[] = [];
  const onProgress = ({ status }: InvestigationTask) =>
    void reported.push(`${status} ${clock.elapsed()}`);
  const waiting = client.waitForInvestigation(task_id, { onProgress });
  await settleOn(clock, waiting);
  // It failed, and that is an answer.
  await expect(waiting).resolves.toEqual(failedTask());
  expect(reported).toEqual(["queued 0", "queued 60000", "running 120000", "failed 210000"]);
  expect(times).toEqual([0, 60_000, 120_000, 210_000]);
});

test("a task that is unknown to this client is read at once", async () => {
  const { client, times } = await servePolls([{ json: task({ status: "cancelled" }) }]);
  await expect(client.waitForInvestigation(TASK_ID)).resolves.toMatchObject({
    status: "cancelled",
  });
  // And so is one of which it is known that it is over.
  await client.waitForInvestigation(TASK_ID);
  expect(times).toEqual([0, 0]);
});

test("a read counts as a poll, and the last known state is reported before the first one", async () => {
  const { client, clock, times } = await servePolls([
    { json: running(10) },
    { json: failedTask() },
  ]);
  await client.readInvestigation(TASK_ID);
  const reported: string[] = [];
  const onProgress = ({ status }: InvestigationTask) =>
    void reported.push(`${status} ${clock.elapsed()}`);
  const waiting = client.waitForInvestigation(TASK_ID, { onProgress });
  await settleOn(clock, waiting);
  expect(reported).toEqual(["running 0", "failed 10000"]);
  // Of a task that is over nothing is known any more.
  await client.waitForInvestigation(TASK_ID, { onProgress });
  expect(reported.slice(2)).toEqual(["failed 10000"]);
  expect(times).toEqual([0, 10_000, 10_000]);
});

test.each([[null], [0], [-5]])(
  "poll_after_seconds of %j while it runs is taken for a minute",
  async (seconds) => {
    const { client, clock, times } = await servePolls([
      { json: running(seconds) },
      { json: failedTask() },
    ]);
    const waiting = client.waitForInvestigation(TASK_ID);
    await settleOn(clock, waiting);
    expect(times).toEqual([0, 60_000]);
  },
);

test("a failed poll keeps the interval, and Retry-After makes it longer", async () => {
  const limited = refusal(429, "RATE_LIMITED", { headers: { "Retry-After": "30" } });
  const short = refusal(429, "RATE_LIMITED", { headers: { "Retry-After": "1" } });
  const { client, clock, times } = await servePolls([
    { json: running(10) },
    limited,
    short,
    hangUp,
    { json: failedTask() },
  ]);
  const waiting = client.waitForInvestigation(TASK_ID);
  await settleOn(clock, waiting);
  expect(times).toEqual([0, 10_000, 40_000, 50_000, 60_000]);
});

test("as many failed polls in a row as maxAttempts end the waiting, fewer do not", async () => {
  const three = [refusal(503, "DATA_UNAVAILABLE"), hangUp, refusal(502, "GATEWAY")] as const;
  const mended = await servePolls([
    ...three,
    { json: running(60) },
    ...three,
    { json: failedTask() },
  ]);
  const waiting = mended.client.waitForInvestigation(TASK_ID);
  await settleOn(mended.clock, waiting);
  await expect(waiting).resolves.toMatchObject({ status: "failed" });

  const broken = await servePolls([...three, hangUp]);
  const inVain = broken.client.waitForInvestigation(TASK_ID);
  await settleOn(broken.clock, inVain);
  expect((await failureOf(inVain)).kind).toBe("network");
  expect(broken.times).toEqual([0, 60_000, 120_000, 180_000]);
});

test("a Retry-After above maxWaitMs ends the waiting at once", async () => {
  const tooMany = refusal(429, "RATE_LIMITED", { headers: { "Retry-After": "86400" } });
  const { client, seen } = await servePolls([tooMany, { json: failedTask() }]);
  const error = await failureOf(client.waitForInvestigation(TASK_ID));
  expect(error).toMatchObject({ kind: "rate", retryAfterMs: 86_400_000 });
  expect(seen).toHaveLength(1);
});

test("a poll that cannot succeed ends the waiting at once", async () => {
  const { client, seen } = await servePolls([refusal(404, "TASK_NOT_FOUND")]);
  const error = await failureOf(client.waitForInvestigation(TASK_ID));
  expect(error).toMatchObject({ kind: "http", status: 404, code: "TASK_NOT_FOUND" });
  expect(seen).toHaveLength(1);
});

test("an abort between two polls ends the waiting at once with its reason, and leaves no timer", async () => {
  const { client, clock } = await servePolls([{ json: running(60) }]);
  const controller = new AbortController();
  const paused = clock.nextPause();
  const waiting = client.waitForInvestigation(TASK_ID, { signal: controller.signal });
  expect(await paused).toBe(60_000);
  const reason = new Error("enough");
  controller.abort(reason);
  await expect(waiting).rejects.toBe(reason);
  expect(clock.pendingTimers()).toBe(0);
});

test("the time of a wait ends it between two polls, with how far the task was", async () => {
  const { client, clock, seen } = await servePolls([{ json: running(60) }]);
  const waiting = client.waitForInvestigation(TASK_ID, { timeoutMs: 150_000 });
  await settleOn(clock, waiting);
  const error = await failureOf(waiting);
  expect([error.kind, error.operation, error.retryable]).toEqual([
    "timeout",
    "readInvestigation",
    true,
  ]);
  expect(error.message).toContain("running");
  expect([clock.elapsed(), seen.length, clock.pendingTimers()]).toEqual([150_000, 3, 0]);
});

test("the time of a wait also ends a poll that is under way", async () => {
  const { client, clock } = await servePolls([() => undefined]);
  const waiting = client.waitForInvestigation(TASK_ID, { timeoutMs: 5000 });
  const failure = failureOf(waiting);
  await clock.advance(5000);
  expect((await failure).message).toContain("not read yet");
  expect(clock.pendingTimers()).toBe(0);
});

test("the time of a wait also ends an onProgress that never returns", async () => {
  const { client, clock } = await servePolls([{ json: running(60) }]);
  await client.readInvestigation(TASK_ID);
  const onProgress = () => new Promise<void>(() => undefined);
  const failure = failureOf(client.waitForInvestigation(TASK_ID, { onProgress, timeoutMs: 5000 }));
  await clock.advance(5000);
  expect((await failure).kind).toBe("timeout");
});

test("what onProgress throws ends the waiting, also when it comes later", async () => {
  for (const onProgress of [
    () => {
      throw new Error("no more of it");
    },
    () => Promise.reject(new Error("no more of it")),
  ]) {
    const { client, clock } = await servePolls([{ json: running(60) }]);
    await expect(client.waitForInvestigation(TASK_ID, { onProgress })).rejects.toThrow(
      "no more of it",
    );
    expect(clock.pendingTimers()).toBe(0);
  }
});

test.each([[0], [-1], [Number.NaN], [2 ** 31]])(
  "a time of %d ms to wait is refused",
  async (timeoutMs) => {
    const { baseUrl, seen } = await serveAnswers({ json: running(60) });
    const error = await failureOf(
      clientOn(baseUrl).client.waitForInvestigation(TASK_ID, { timeoutMs }),
    );
    expect([error.kind, seen.length]).toEqual(["invalid_request", 0]);
  },
);
