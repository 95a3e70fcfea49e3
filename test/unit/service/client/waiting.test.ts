import { expect, test } from "vitest";
import { task, TASK_ID } from "./answers.js";
import { clientOn, failureOf } from "./client-on.js";
import { serveAnswers, type Answer } from "./serve-answers.js";

const RUNNING = task({ status: "running", stage: "investigating", poll_after_seconds: 60 });

/** A client of a service that answers every request so. */
async function clientOf(answer: Answer) {
  return clientOn((await serveAnswers(answer)).baseUrl);
}

test("an abort between two polls ends the waiting at once with its reason, and leaves no timer", async () => {
  const { client, clock } = await clientOf({ json: RUNNING });
  const controller = new AbortController();
  const paused = clock.nextPause();
  const waiting = client.waitForInvestigation(TASK_ID, { signal: controller.signal });
  expect(await paused).toBe(60_000);
  const reason = new Error("enough");
  controller.abort(reason);
  await expect(waiting).rejects.toBe(reason);
  expect(clock.pendingTimers()).toBe(0);
});

test("the time of a wait also ends a poll that is under way, and an onProgress that never returns", async () => {
  const hanging = await clientOf(() => undefined);
  const poll = failureOf(hanging.client.waitForInvestigation(TASK_ID, { timeoutMs: 5000 }));
  await hanging.clock.advance(5000);
  expect((await poll).message).toContain("not read yet");
  expect(hanging.clock.pendingTimers()).toBe(0);

  const { client, clock } = await clientOf({ json: RUNNING });
  await client.readInvestigation(TASK_ID);
  const onProgress = () => new Promise<void>(() => undefined);
  const failure = failureOf(client.waitForInvestigation(TASK_ID, { onProgress, timeoutMs: 5000 }));
  await clock.advance(5000);
  expect((await failure).kind).toBe("timeout");
});

test("what onProgress throws ends the waiting, also when it comes later", async () => {
  const error = new Error("no more of it");
  const throwing = (): never => {
    throw error;
  };
  for (const onProgress of [throwing, () => Promise.reject(error)]) {
    const { client, clock } = await clientOf({ json: RUNNING });
    await expect(client.waitForInvestigation(TASK_ID, { onProgress })).rejects.toBe(error);
    expect(clock.pendingTimers()).toBe(0);
  }
});
