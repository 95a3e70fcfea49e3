import { statSync } from "node:fs";
import { expect } from "vitest";
import type { ReceiverHealth, SignalEvent } from "../../src/kit/index.js";
import { areHandedOff, startReceiver, type Child } from "./child-process.js";
import { eventually } from "./eventually.js";
import { readLog, readRows } from "./inbox-file.js";
import { eventThat, healthOf, isAcknowledged, send, type Fate } from "./sender.js";

export function some(count: number, fate: Fate = "fine"): SignalEvent[] {
  return Array.from({ length: count }, () => eventThat(fate));
}

/** So many that carry so many bytes each. */
export function someOf(bytes: number, count: number): SignalEvent[] {
  return Array.from({ length: count }, () =>
    eventThat("fine", undefined, { padding: "x".repeat(bytes) }),
  );
}

export const idsIn = (events: readonly SignalEvent[]): string[] => events.map(({ id }) => id);

/** Sends all at once. What is not acknowledged must have got 503. */
export async function sendAll(
  port: number,
  events: readonly SignalEvent[],
): Promise<{ taken: SignalEvent[]; refused: SignalEvent[] }> {
  const taken: SignalEvent[] = [];
  const refused: SignalEvent[] = [];
  await Promise.all(
    events.map(async (event) => {
      const answer = await send(port, event);
      if (!isAcknowledged(answer)) expect(answer.status).toBe(503);
      (isAcknowledged(answer) ? taken : refused).push(event);
    }),
  );
  return { taken, refused };
}

/** About 250 pages of a WAL, all of which must be taken. */
export async function sendPages(receiver: Child): Promise<SignalEvent[]> {
  const { taken, refused } = await sendAll(receiver.port, someOf(250_000, 4));
  expect(idsIn(refused)).toEqual([]);
  return taken;
}

export const walPages = (files: { db: string }): number => statSync(`${files.db}-wal`).size / 4096;

/** Asks again and again. */
export function untilHealth(
  port: number,
  isSo: (health: ReceiverHealth) => boolean,
): Promise<void> {
  return eventually("the health", async () => isSo(await healthOf(port)));
}

/**
 * All of these are handed off, each once and without a flag; and when the process is killed then, a
 * start on a disk that works finds them done, and nothing else.
 *
 * @param earlier handed off by a process before this one
 */
export async function expectEachOnce(
  receiver: Child,
  files: { db: string; log: string },
  events: readonly SignalEvent[],
  earlier: readonly SignalEvent[] = [],
): Promise<void> {
  await receiver.until("all hand-offs", areHandedOff(idsIn(events)));
  const ids = idsIn([...earlier, ...events]).sort();
  expect(await receiver.end("SIGKILL")).toBe("SIGKILL");
  const begun = readLog(files.log);
  expect(begun.map(({ id }) => id).sort()).toEqual(ids);
  expect(begun.filter(({ possiblyRepeated }) => possiblyRepeated)).toEqual([]);
  const next = await startReceiver(files);
  const rows = readRows(files.db).map(({ event_id, state }) => `${event_id} ${state}`);
  expect(rows.sort()).toEqual(ids.map((id) => `${id} done`));
  expect(await next.end("SIGTERM")).toBe(0);
}
