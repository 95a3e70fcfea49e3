import { expect, test } from "vitest";
import { createPollGate } from "../../../../src/client/operations/poll-gate.js";
import { createManualClock } from "../../../../src/testing/manual-clock.js";
import { task } from "../answers.js";

const NEVER_ASKED = -Infinity;
const ids = (many: number): string[] => Array.from({ length: many }, (_, index) => `task_${index}`);

function createGate() {
  const clock = createManualClock(0);
  return { clock, gate: createPollGate(clock, 60_000) };
}

test("however many tasks are waited for at once, none may be polled again before its time", async () => {
  const { clock, gate } = createGate();
  const many = ids(5000);
  expect(many.filter((id) => !gate.enter(id))).toEqual([]);
  expect(many.filter((id) => gate.enter(id))).toEqual([]);
  await clock.advance(59_999);
  expect(many.filter((id) => gate.enter(id))).toEqual([]);
  await clock.advance(1);
  expect(many.filter((id) => !gate.enter(id))).toEqual([]);
});

test("an interval that is not the default is kept while its caller is busy and other tasks are polled", async () => {
  const { clock, gate } = createGate();
  gate.note(task({ task_id: "task_a", poll_after_seconds: 200 }));
  await clock.advance(1_000_000);
  gate.enter("task_b");
  expect(gate.enter("task_a")).toBe(true);
  expect(gate.opensAt("task_a") - clock.elapsed()).toBe(200_000);
});

test("tasks that stay unpolled for another interval are forgotten, and others keep theirs", async () => {
  const { clock, gate } = createGate();
  const early = ids(3000);
  for (const id of early) gate.enter(id);
  gate.note(task({ task_id: "task_a", poll_after_seconds: 200 }));
  await clock.advance(200_000);
  for (let index = 0; index < 6000; index++) gate.enter(`task_late_${index}`);
  expect(early.filter((id) => gate.opensAt(id) !== NEVER_ASKED)).toEqual([]);
  expect(gate.enter("task_a")).toBe(true);
  expect(gate.opensAt("task_a") - clock.elapsed()).toBe(200_000);
});
