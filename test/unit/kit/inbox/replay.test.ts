import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { type InboxStore, PermanentFailure, SignalboxError } from "../../../../src/kit/index.js";
import { memoryStore } from "../../../../src/kit/stores/memory.js";
import { signalEvent } from "../../../../src/kit/testing/index.js";
import { rejectionOf } from "../../signalbox-error-of.js";
import { turns, until } from "../../until.js";
import { mediumError } from "./faulty-store.js";
import { batchOf, newEvent, opened, T0 } from "./new-event.js";
import { type Rig, startRig } from "./receiver-rig.js";

const DAY_MS = 24 * 3_600_000;

async function handOffOnce(rig: Rig, how: "done" | "dead"): Promise<string> {
  const [event] = await rig.begin(1);
  if (how === "done") rig.calls[0]!.resolve();
  else rig.calls[0]!.reject(new PermanentFailure());
  await until(async () => (await rig.entry(event.id))?.state === how);
  return event.id;
}

test.each([
  ["done", true],
  ["dead", false],
] as const)(
  "a replay of a %s event is handed off, and flagged as replayed at each attempt, counted anew",
  async (state, possiblyRepeated) => {
    const rig = await startRig({ handoff: { backoff: () => 1000 } });
    const id = await handOffOnce(rig, state);
    expect(await rig.receiver.inbox.replay(id)).toBe("moved");
    await rig.called(2);
    expect(rig.calls[1]!.handoff).toMatchObject({ attempt: 1, replayed: true, possiblyRepeated });
    expect(rig.calls[1]!.signal).toEqual(rig.calls[0]!.signal);
    expect(Buffer.from(rig.calls[1]!.handoff.rawBody).equals(rig.calls[0]!.handoff.rawBody)).toBe(
      true,
    );
    rig.calls[1]!.reject();
    await rig.clock.advance(1000);
    expect(rig.calls[2]!.handoff).toMatchObject({ attempt: 2, replayed: true, possiblyRepeated });
  },
);

test("many are moved in small transactions, in order, and the event loop turns in between", async () => {
  const inner = await opened(memoryStore());
  const accepts = Array.from({ length: 120 }, () => newEvent({ state: "done" }));
  await inner.commit(batchOf({ accepts }));
  const moved: number[] = [];
  let turn = 0;
  const portionsPerTurn = new Map<number, number>();
  const replay: typeof inner.replay = (...args) => {
    moved.push(args[0].length);
    portionsPerTurn.set(turn, (portionsPerTurn.get(turn) ?? 0) + 1);
    return inner.replay(...args);
  };
  const rig = await startRig({ store: { ...inner, replay } });
  const countTurns = (): unknown => setImmediate(() => turn++ < 100 && countTurns());
  countTurns();
  const ids = accepts.map(({ eventId }) => eventId);
  const outcomes = await rig.receiver.inbox.replay(["evt_unknown", ...ids]);
  expect(outcomes).toEqual(["not_found", ...ids.map(() => "moved")]);
  expect(moved).toEqual([50, 50, 21]);
  expect([...portionsPerTurn.values()].every((portions) => portions === 1)).toBe(true);
});

test("a replay that fails moves none of its events", async () => {
  const store = await opened(memoryStore());
  const accepts = [1, 2].map(() => newEvent({ state: "quarantined", reason: "not_json" }));
  await store.commit(batchOf({ accepts }));
  const keys = accepts.map(({ eventId }) => ({ endpoint: "default", eventId }));
  const read = [accepts[0]!];
  const replaying = store.replay(keys, () => {
    if (read.length === 0) throw new Error("broken");
    return read.pop()!;
  });
  await expect(replaying).rejects.toThrow();
  expect(await store.stats("default")).toMatchObject({ ready: 0, quarantined: 2 });
});

test("bytes that are unusable are kept in quarantine, once, under a hash of them", async () => {
  const rig = await startRig();
  const body = Buffer.from([0xff, 0x00, 0x7b]);
  for (let time = 0; time < 2; time++) {
    expect((await rig.deliver(body)).body).toBe('{"received":true,"quarantined":true}');
  }
  const id = `sha256:${createHash("sha256").update(body).digest("hex")}`;
  const stored = await rig.receiver.inbox.get(id);
  expect(stored).toMatchObject({ state: "quarantined", type: "", lastError: "not_utf8" });
  expect(Buffer.from(stored?.rawBody ?? []).equals(body)).toBe(true);
  expect(rig.namesSeen()).toEqual(["quarantined", "duplicate"]);
  expect(await rig.receiver.inbox.replay(id)).toBe("still_unusable");
  await turns();
  expect(rig.calls).toEqual([]);
  expect(await rig.entry(id)).toMatchObject({ state: "quarantined" });
});

test("unusable bytes that claim an id do not keep the right event with that id out", async () => {
  const rig = await startRig();
  const event = signalEvent();
  await rig.deliver({ ...event, data: { nothing: true } });
  expect((await rig.deliver(event)).body).toBe('{"received":true}');
  await rig.called(1);
});

test("an event of an unknown type is acknowledged and waits in quarantine for a release that knows it", async () => {
  const rig = await startRig();
  const event = { ...signalEvent(), type: "signal.retracted" };
  expect((await rig.deliver(event)).body).toBe('{"received":true}');
  expect((await rig.deliver(event)).body).toBe('{"received":true,"duplicate":true}');
  expect(await rig.entry(event.id)).toMatchObject({
    state: "quarantined",
    lastError: "unknown_type",
    type: event.type,
  });
  expect(await rig.receiver.inbox.replay(event.id)).toBe("still_unusable");
  expect(rig.calls).toEqual([]);
  expect(rig.namesSeen()).toEqual(["quarantined", "duplicate"]);
  expect(rig.receiver.health().deliveries).toMatchObject({ accepted: 0, quarantined: 1 });
});

test("a quarantined event that this release can read is handed off under its real id", async () => {
  const store = await opened(memoryStore());
  const signal = signalEvent();
  const kept = newEvent({
    signal,
    eventId: "sha256:abc",
    type: "",
    state: "quarantined",
    reason: "data_invalid",
  });
  await store.commit(batchOf({ accepts: [kept] }));
  const rig = await startRig({ store });
  expect(await rig.receiver.inbox.replay("sha256:abc")).toBe("moved");
  await rig.called(1);
  expect(rig.calls[0]!.signal).toEqual(signal);
  expect(rig.calls[0]!.handoff).toMatchObject({
    deliveryKey: `default/${signal.id}`,
    replayed: true,
    possiblyRepeated: false,
  });
  expect((await rig.deliver(signal)).body).toBe('{"received":true,"duplicate":true}');
});

test("a stored event that this release cannot read is dead, not lost and not tried for ever", async () => {
  const store = await opened(memoryStore());
  const event = newEvent({ body: Buffer.from("of a newer release") });
  await store.commit(batchOf({ accepts: [event] }));
  const rig = await startRig({ store });
  await rig.saw("dead");
  expect(rig.calls).toEqual([]);
  expect(await rig.entry(event.eventId)).toMatchObject({ state: "dead", attempts: 1 });
});

// --- retention

test("retention drops the payload of done events after 7 days and their key after 30", async () => {
  const store = await opened(memoryStore());
  const event = newEvent({ state: "done" });
  // The newest key is kept, because its seq must not be used again.
  await store.commit(batchOf({ accepts: [event, newEvent()] }));
  const rig = await startRig({ store });
  const atDay = async (day: number) => {
    rig.clock.setNow(T0 + day * DAY_MS);
    await rig.clock.advance(60_000);
    return (await store.get("default", event.eventId)) ?? null;
  };
  expect((await atDay(6.9))?.rawBody).toBeInstanceOf(Uint8Array);
  expect((await atDay(7.1))?.rawBody).toBeNull();
  expect((await atDay(29.9))?.state).toBe("done");
  expect(await atDay(30.1)).toBeNull();
});

test("retention works through many old events 500 at a time, and goes on a minute after an error", async () => {
  const inner = await opened(memoryStore());
  const accepts = Array.from({ length: 1200 }, () => newEvent({ state: "done" }));
  await inner.commit(batchOf({ accepts }));
  const limits: number[] = [];
  const prune: InboxStore["prune"] = async (request) => {
    if (limits.push(request.limit) === 1) throw new Error("busy");
    return inner.prune(request);
  };
  const rig = await startRig({ store: { ...inner, prune } });
  rig.clock.setNow(T0 + 40 * DAY_MS);
  await rig.clock.advance(60_000);
  expect(await rig.receiver.inbox.stats()).toMatchObject({ total: 1200 });
  await rig.clock.advance(61_000);
  expect(await rig.receiver.inbox.stats()).toMatchObject({ total: 1 });
  expect(new Set(limits)).toEqual(new Set([500]));
});

test("retention passes thousands of events that it keeps within seconds", async () => {
  const store = await opened(memoryStore());
  const kept = Array.from({ length: 3000 }, () => newEvent({ state: "quarantined" }));
  await store.commit(batchOf({ accepts: [...kept, newEvent({ state: "done" }), newEvent()] }));
  const rig = await startRig({ store });
  rig.clock.setNow(T0 + 40 * DAY_MS);
  await rig.clock.advance(62_000);
  expect(await rig.receiver.inbox.stats()).toMatchObject({ quarantined: 3000, total: 3001 });
});

test("an id that no event can have is not found, and fails no other", async () => {
  const inner = await opened(memoryStore());
  const event = newEvent({ state: "done" });
  await inner.commit(batchOf({ accepts: [event] }));
  /** As a database refuses such a text. */
  const refusing =
    <Args extends readonly [unknown, ...unknown[]], Result>(
      operation: (...args: Args) => Promise<Result>,
    ) =>
    async (...args: Args): Promise<Result> => {
      if (/\\u0000|\\ud800/.test(JSON.stringify(args)))
        throw new SignalboxError("store_row_refused", "refused", "");
      return operation(...args);
    };
  const store: typeof inner = {
    ...inner,
    get: refusing(inner.get),
    replay: refusing(inner.replay),
    discard: refusing(inner.discard),
  };
  const { inbox } = (await startRig({ store })).receiver;
  const ids = ["a\0b", event.eventId, "\ud800"];
  expect(await inbox.get("a\0b")).toBe(undefined);
  expect(await inbox.replay(ids)).toEqual(["not_found", "moved", "not_found"]);
  expect(await inbox.discard(ids)).toEqual(["not_found", "wrong_state", "not_found"]);
  expect(await inbox.replay("\ud800")).toBe("not_found");
});

test("an error after the first portion of a move says how many events were moved before", async () => {
  const inner = await opened(memoryStore());
  const accepts = Array.from({ length: 120 }, () => newEvent({ state: "done" }));
  await inner.commit(batchOf({ accepts }));
  let portions = 0;
  const replay: typeof inner.replay = async (...args) => {
    portions += 1;
    if (portions === 2) throw mediumError();
    return inner.replay(...args);
  };
  const { inbox } = (await startRig({ store: { ...inner, replay } })).receiver;
  const ids = ["evt_unknown", ...accepts.map(({ eventId }) => eventId)];
  const error = await rejectionOf(inbox.replay(ids));
  expect(error.code).toBe("store_failed");
  expect(error.message).toMatch(/\b50 of 121\b.*\b49\b.*The disk is full/);
});
