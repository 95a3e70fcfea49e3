import { expect, test } from "vitest";
import { sqliteStore } from "../../../src/kit/stores/sqlite/sqlite-store.js";
import { createManualClock, signalEvent } from "../../../src/kit/testing/index.js";
import { logLines } from "../../http/log-lines.js";
import { T0 } from "../../unit/kit/inbox/new-event.js";
import { startRig } from "../../unit/kit/inbox/receiver-rig.js";
import { eventually } from "../eventually.js";
import { inboxFiles } from "../inbox-file.js";

const HOUR_MS = 3_600_000;

test("an event that comes back while its old callback still runs here is another attempt, and the old one ends nothing", async () => {
  const { db } = inboxFiles();
  const clock = createManualClock(T0);
  // A lost lease is reported in the log only.
  const { logger, lines } = logLines();
  const lost = (): string[] => lines.filter((line) => line.includes("lease expired"));
  const handoff = { concurrency: 2, backoff: () => 2000 };
  const start = () =>
    startRig({ clock, logger, handoff, store: sqliteStore({ path: db, shared: true }) });
  const [first, second] = [await start(), await start()];
  const countDone = async () => (await first.receiver.inbox.stats()).done;
  const event = signalEvent();
  await first.deliver(event);
  await eventually("the callback", () => first.calls.length === 1);
  clock.setNow(T0 + HOUR_MS);
  await clock.advance(1000);
  await eventually("the take-over", () => second.calls.length === 1);
  second.calls[0]!.reject();
  await eventually("its failure", async () => (await first.entry(event.id))?.state === "ready");
  await second.receiver.close();
  await clock.advance(3000);
  await eventually("the second attempt", () => first.calls.length === 2);
  expect(first.calls[1]!.handoff).toMatchObject({ attempt: 2, possiblyRepeated: true });
  expect(first.receiver.health().running).toBe(2);
  first.calls[0]!.resolve();
  await eventually("the log line", () => lost().length === 1);
  expect(await countDone()).toBe(0);
  first.calls[1]!.resolve();
  await eventually("its end", async () => (await countDone()) === 1);
  expect([lost().length, lost()[0]?.includes(event.id), first.receiver.health().running]).toEqual([
    1,
    true,
    0,
  ]);
});
