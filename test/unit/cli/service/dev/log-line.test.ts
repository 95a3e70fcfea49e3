import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { shortLogLine } from "../../../../../src/cli/service/dev/receiver.js";

test("a line of pino is shown short, and any other line as it is", async () => {
  const lines = readFileSync(join(import.meta.dirname, "log.txt"), "utf8").split("\n");
  const shown = lines.map(shortLogLine).join("\n");
  await expect(shown).toMatchFileSnapshot(join(import.meta.dirname, "log-shown.txt"));
});
