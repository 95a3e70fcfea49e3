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

test("an interrupted command has five seconds to clean up", async () => {
  const { interrupt, signal, clock, printed } = interruption();
  expect(signal.aborted).toBe(false);
  interrupt("SIGINT");
  expect(signal.aborted).toBe(true);
  await clock.advance(4999);
  expect(printed).toEqual([]);
  await clock.advance(1);
  expect(printed).toEqual(["exit"]);
});

test("what is under way has its own time, and what has to be known when it takes longer is said", async () => {
  const { interrupt, setUnfinished, clock, printed } = interruption();
  setUnfinished({ atMostMs: 30_000, ifInterrupted: "look in the dashboard" });
  interrupt("SIGINT");
  await clock.advance(34_999);
  expect(printed).toEqual([]);
  await clock.advance(1);
  expect(printed).toEqual(["look in the dashboard", "exit"]);
});

test("a second Ctrl-C ends at once; the same one, handed on by npm, does not", async () => {
  const { interrupt, setUnfinished, clock, printed } = interruption();
  setUnfinished({ atMostMs: 30_000, ifInterrupted: "look in the dashboard" });
  interrupt("SIGINT");
  interrupt("SIGINT");
  await clock.advance(300);
  interrupt("SIGINT");
  expect(printed).toEqual([]);
  await clock.advance(1);
  interrupt("SIGINT");
  expect(printed).toEqual(["look in the dashboard", "exit"]);
  // Once the work is done there is nothing to look for.
  setUnfinished(null);
  interrupt("SIGINT");
  expect(printed.slice(2)).toEqual(["exit"]);
});
