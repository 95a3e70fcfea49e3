import { expect, test } from "vitest";
import { createPollGate } from "../../../../src/client/operations/poll-gate.js";
import { waitForInvestigation } from "../../../../src/client/operations/wait-for-investigation.js";
import { createManualClock } from "../../../../src/testing/manual-clock.js";
import { failedTask, task } from "../answers.js";

const NEVER_ASKED = -Infinity;
const ids = (many: number): string[] => Array.from({ length: many }, (_, index) => `task_${index}`);

function createGate() {
  const clock = createManualClock(0);
  return { clock, gate: createPollGate(clock) };
}

test("however many tasks are waited for at once, none may be polled again before its time", async () => {
  const { clock, gate } = createGate();
  const many = ids(5000);
  for (const id of many) gate.join(id);
  expect(many.filter((id) => !gate.enter(id))).toEqual([]);
  expect(many.filter((id) => gate.enter(id))).toEqual([]);
  await clock.advance(59_999);
  expect(many.filter((id) => gate.enter(id))).toEqual([]);
  await clock.advance(1);
  expect(many.filter((id) => !gate.enter(id))).toEqual([]);
});

test("a wait that ends and begins again is still bound by the last poll", async () => {
  const { clock, gate } = createGate();
  const leave = gate.join("task_a");
  gate.enter("task_a");
  leave();
  await clock.advance(59_999);
  expect(gate.enter("task_a")).toBe(false);
});

test("a task without a waiting caller is forgotten once it may be polled again", async () => {
  const { clock, gate } = createGate();
  const early = ids(3000);
  for (const id of early) gate.enter(id);
  await clock.advance(60_000);
  for (let index = 0; index < 6000; index++) gate.enter(`task_late_${index}`);
  expect(early.filter((id) => gate.opensAt(id) !== NEVER_ASKED)).toEqual([]);
  // A task with waiting callers is forgotten when the last one leaves.
  const [leave, leaveToo] = [gate.join("task_b"), gate.join("task_b")];
  gate.enter("task_b");
  await clock.advance(60_000);
  leave();
  expect(gate.opensAt("task_b")).not.toBe(NEVER_ASKED);
  leaveToo();
  leaveToo();
  expect(gate.opensAt("task_b")).toBe(NEVER_ASKED);
});

test("a task with a waiting caller keeps its interval, however many tasks come and go", async () => {
  const { clock, gate } = createGate();
  gate.join("task_a");
  gate.note(task({ task_id: "task_a", poll_after_seconds: 200 }));
  await clock.advance(200_000);
  for (const id of ids(5000)) gate.enter(id);
  expect(gate.enter("task_a")).toBe(true);
  expect(gate.opensAt("task_a") - clock.elapsed()).toBe(200_000);
});

test("a wait keeps its task known while it lasts, and no longer, however it ends", async () => {
  const { clock, gate } = createGate();
  let inside = 0;
  const counted = {
    ...gate,
    join(taskId: string) {
      inside++;
      const leave = gate.join(taskId);
      return () => {
        inside--;
        leave();
      };
    },
  };
  const retry = { maxAttempts: 1, baseMs: 1, maxMs: 1, maxWaitMs: 1 };
  const seen: number[] = [];
  for (const end of [() => failedTask(), () => Promise.reject(new Error("gone"))]) {
    const readOnce = async () => {
      seen.push(inside);
      return end();
    };
    await waitForInvestigation({ clock, retry }, counted, readOnce, "task_a", {}).catch(() => undefined);
    seen.push(inside);
    await clock.advance(60_000);
  }
  expect(seen).toEqual([1, 0, 1, 0]);
});
