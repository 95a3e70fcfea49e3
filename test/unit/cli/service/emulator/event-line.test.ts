import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createEventLine } from "../../../../../src/cli/service/emulator/report-event.js";
import type { EmulatorEvent } from "../../../../../src/service/emulator/instance/events.js";

const plain = (text: string): string => text;
const PAINT = { bold: plain, dim: plain, red: plain, green: plain, yellow: plain };
const EVENTS = JSON.parse(
  readFileSync(join(import.meta.dirname, "events.json"), "utf8"),
) as EmulatorEvent[];

test("each event is one line, and a registration has a short name, which its first line explains", async () => {
  const lines = EVENTS.map(createEventLine(PAINT));
  await expect(lines.join("\n")).toMatchFileSnapshot(join(import.meta.dirname, "event-lines.txt"));
});
