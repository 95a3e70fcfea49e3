import { expect, test } from "vitest";
import { createInterruption } from "../../../src/cli/console/interruption.js";
import { createManualClock } from "../../../src/kit/testing/index.js";

function interruption() {
  const clock = createManualClock(0);
  const printed: string[] = [];
  const made = createInterruption({
    clock,
    note: (line) => printed.push(line),
    exit: () => printed.push("exit"),
  });
  return { ...made, clock, printed };
}

const WORK = { atMostMs: 30_000, ifInterrupted: "look in the dashboard" };

test.each([
  ["it has five seconds to clean up", null, 5000, ["exit"]],
  [
    "what is under way has its own time, and says what has to be known",
    WORK,
    35_000,
    [WORK.ifInterrupted, "exit"],
  ],
])("an interrupted command: %s", async (_what, work, ms, said) => {
  const { interrupt, setUnfinished, signal, clock, printed } = interruption();
  setUnfinished(work);
  expect(signal.aborted).toBe(false);
  interrupt("SIGINT");
  expect(signal.aborted).toBe(true);
  await clock.advance(ms - 1);
  expect(printed).toEqual([]);
  await clock.advance(1);
  expect(printed).toEqual(said);
});

test("a second Ctrl-C ends at once; the same one, handed on by npm, does not", async () => {
  const { interrupt, setUnfinished, clock, printed } = interruption();
  setUnfinished(WORK);
  interrupt("SIGINT");
  interrupt("SIGINT");
  await clock.advance(300);
  interrupt("SIGINT");
  expect(printed).toEqual([]);
  await clock.advance(1);
  interrupt("SIGINT");
  expect(printed).toEqual([WORK.ifInterrupted, "exit"]);
  // Once the work is done there is nothing to look for.
  setUnfinished(null);
  interrupt("SIGINT");
  expect(printed.slice(2)).toEqual(["exit"]);
});
