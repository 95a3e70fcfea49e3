import { statSync } from "node:fs";
import { expect, test } from "vitest";
import type { InboxStore } from "../../../../src/kit/index.js";
import { memoryStore } from "../../../../src/kit/stores/memory.js";
import { sqliteStore } from "../../../../src/kit/stores/sqlite/sqlite-store.js";
import { signalEvent } from "../../../../src/kit/testing/index.js";
import { logLines } from "../../../http/log-lines.js";
import { rejectionOf } from "../../signalbox-error-of.js";
import { startRig } from "../inbox/receiver-rig.js";
import { inboxPath } from "../stores/sqlite/open-store.js";

test("health and stats tell how it stands with durability, the queue, commits, syncs and files", async () => {
  const path = inboxPath();
  const store = sqliteStore(path);
  const { receiver, deliver, calls, clock } = await startRig({
    store,
    handoff: { concurrency: 1 },
  });
  const event = signalEvent();
  await deliver(event);
  await deliver(event);
  await deliver({ ...event, data: { ...event.data, title: "another" } });
  await deliver(Buffer.from("no JSON"));
  await receiver.handle({ method: "POST", headers: {}, body: Buffer.from("{}") });
  calls[0]?.resolve();
  await new Promise((resolve) => receiver.on("handedOff", resolve));

  const { commits, medium, deliveries } = receiver.health();
  expect(deliveries).toEqual({
    accepted: 1,
    duplicate: 1,
    conflict: 1,
    quarantined: 1,
    verified: 0,
    rejected: 1,
    shed: 0,
  });
  // Four deliveries and a settlement.
  expect(commits.count).toBe(5);
  expect(medium).toMatchObject({
    durability: "wal-fdatasync",
    fileBytes: statSync(path).size,
    walBytes: statSync(`${path}-wal`).size,
    // The take-over at the start is one more.
    sync: { count: 6, p50Ms: expect.any(Number) as number, p99Ms: expect.any(Number) as number },
    checkpoints: { done: 0, blocked: 0, failed: 0, stopped: false },
    threadDeaths: 0,
  });
  expect(store.diagnostics()?.sync.maxMs).toBeGreaterThan(0);
  const stats = await receiver.inbox.stats();
  expect(stats).toMatchObject({ done: 1, quarantined: 1, commits, medium });

  await deliver();
  await receiver.inbox.replay(event.id);
  await clock.advance(0);
  expect(receiver.health()).toMatchObject({
    running: 1,
    queued: { events: 0, bytes: 0 },
    breaker: "closed",
  });
});

// With a concurrency of 1, the dispatcher holds 256 events that wait; what is past that waits in
// `ready`.
test.each([
  ["sqlite", () => sqliteStore(inboxPath())],
  ["memory", memoryStore],
])("the age of what waits longest is in both, on the %s store", async (_name, createStore) => {
  const store = createStore();
  const { receiver, deliverMany, clock } = await startRig({ store, handoff: { concurrency: 1 } });
  expect(receiver.health().oldestReadyAgeMs).toBe(0);
  await deliverMany(300);
  await clock.advance(1500);
  expect(receiver.health().oldestReadyAgeMs).toBe(1500);
  expect((await receiver.inbox.stats()).oldestReadyAgeMs).toBe(1500);
});

test("a store that lacks connections for the callbacks is told of at the start and in the health", async () => {
  const { logger, lines } = logLines();
  const shortage = (callbacks: number): string => `a pool for ${callbacks} callbacks`;
  const store: InboxStore = { ...memoryStore(), durable: true, shortage };
  const { receiver } = await startRig({ store, logger });
  expect(lines.filter((line) => line.includes("a pool for 16 callbacks"))).toHaveLength(1);
  expect(receiver.health().shortage).toBe("a pool for 16 callbacks");
});

const fail = () => {
  throw new Error("the disk is gone");
};
const { oldestReady: _none, ...SILENT } = memoryStore();

test.each<[string, InboxStore, number | null]>([
  ["has no medium", memoryStore(), 0],
  ["fails to tell", { ...memoryStore(), diagnostics: fail, oldestReady: fail }, null],
  ["tells of nothing", SILENT, null],
])("a store that %s does not take health down", async (_what, store, oldestReadyAgeMs) => {
  const { receiver } = await startRig({ store });
  expect(receiver.health()).toMatchObject({ ok: true, medium: null, oldestReadyAgeMs });
  expect((await receiver.inbox.stats()).medium).toBeNull();
});

test("accept of a body that can never fit names its size, the limit and the option", async () => {
  const { receiver } = await startRig({ bodyLimitBytes: 1000, maxQueued: { bytes: 1000 } });
  const error = await rejectionOf(receiver.accept({ body: "x".repeat(1001) }));
  expect([error.code, error.message]).toEqual([
    "option_invalid",
    expect.stringMatching(/1001 bytes.* 1000/),
  ]);
  expect(error.help).toContain("maxQueued: { bytes }");
  expect(await receiver.accept({ body: "x".repeat(1000) })).toMatchObject({
    status: "quarantined",
  });
});
