import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { createTerminal } from "../../../../src/cli/console/terminal.js";

type Output = Parameters<typeof createTerminal>[0];
const output = (isTTY: boolean) => Object.assign(new PassThrough(), { isTTY, columns: 8 });

test.each([
  [
    "is a line that a note takes away, where the data go elsewhere",
    false,
    true,
    "\r\u001b[K1 of 20\r\u001b[Kdone\n",
  ],
  ["does not come between lines of the same terminal", true, true, "done\n"],
  ["is not in a log", false, false, "done\n"],
])("progress %s", (_where, isOutShown, isErrShown, written) => {
  const [stdout, stderr] = [output(isOutShown), output(isErrShown)];
  const { progress, note } = createTerminal(
    stdout as unknown as Output,
    stderr as unknown as Output,
    {},
  );
  progress("1 of 2000");
  note("done");
  expect(String(stderr.read())).toBe(written);
  expect(stdout.read()).toBe(null);
});
