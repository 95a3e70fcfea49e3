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
  const line = createEventLine(PAINT);
  const lines = EVENTS.map((event) => line(event));
  await expect(lines.join("\n")).toMatchFileSnapshot(join(import.meta.dirname, "event-lines.txt"));
});

test("of an advance with many deliveries some lines are shown, and the last one says how many are not", () => {
  const line = createEventLine(PAINT);
  const sent = EVENTS.find(({ event }) => event === "sent") as EmulatorEvent;
  const deliveries = { created: 143, delivered: 141, failed: 2, expired: 0, waiting: 0 };
  const sums = { signals_published: 143, deliveries, registrations_paused: [] };
  for (const many of [42, 3]) {
    const lines = Array.from({ length: many }, () => line({ ...sent, during_advance: true }));
    expect(lines.filter((text) => text !== null)).toHaveLength(Math.min(many, 40));
    const last = line({ event: "clock_moved", now: "2026-12-02T08:00:00.000Z", ...sums });
    expect(last?.endsWith("0 waiting (2 more lines are not shown)")).toBe(many > 40);
  }
});
