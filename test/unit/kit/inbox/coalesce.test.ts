import { expect, test } from "vitest";
import type { SignalEvent } from "../../../../src/kit/index.js";
import { rankOf } from "../../../../src/kit/inbox/lane.js";
import type { ReceiverOptions } from "../../../../src/kit/receiver/options.js";
import { memoryStore } from "../../../../src/kit/stores/memory.js";
import { signalEvent, testReceiver } from "../../../../src/kit/testing/index.js";
import { github } from "../../../../src/kit/senders/index.js";
import { logLines } from "../../../http/log-lines.js";
import { turns } from "../../until.js";
import { startRig, type Rig } from "./receiver-rig.js";

const QUIET = { quietMs: 2000, longestMs: 5000 };
const PRICE: ReceiverOptions["coalesce"] = {
  types: ["signal.published.price_change"],
  ...QUIET,
};

function startCoalescing(options: Partial<ReceiverOptions> = {}): Promise<Rig> {
  return startRig({ order: true, coalesce: PRICE, ...options });
}

async function deliver(rig: Rig, slug: string, type = "price_change"): Promise<SignalEvent> {
  const event = signalEvent({
    data: { product: { slug }, signal_type: type },
  });
  expect((await rig.deliver(event)).status).toBe(200);
  await turns();
  return event;
}

test("a burst about one thing is one hand-off of the newest, which names the others, also after a restart", async () => {
  const store = memoryStore();
  const first = await startCoalescing({ store });
  const a1 = await deliver(first, "a");
  const received = first.clock.now();
  await first.clock.advance(1500);
  const a2 = await deliver(first, "a");
  const b1 = await deliver(first, "b");
  await first.receiver.close();
  const rig = await startCoalescing({ store, clock: first.clock });
  const a3 = await deliver(rig, "a");
  expect(await rig.receiver.inbox.get(a1.id)).toMatchObject({
    state: "done",
    lastError: `superseded by ${a2.id}`,
  });
  await rig.clock.advance(1999);
  expect(rig.calls).toEqual([]);
  await rig.clock.advance(1);
  await rig.called(2);
  const handoffs = rig.calls.map(({ signal, handoff }) => [
    signal.id,
    handoff.earlierCount,
    handoff.earlier,
  ]);
  const type = "signal.published";
  expect(handoffs).toEqual([
    [b1.id, 0, []],
    [
      a3.id,
      2,
      [
        { eventId: a1.id, type, receivedAt: new Date(received) },
        { eventId: a2.id, type, receivedAt: new Date(received + 1500) },
      ],
    ],
  ]);
});

test("an event of another type is handed off at once, and ends a burst", async () => {
  const rig = await startCoalescing();
  const other = await deliver(rig, "a", "new_feature");
  await rig.called(1);
  const a1 = await deliver(rig, "a");
  const next = await deliver(rig, "a", "new_feature");
  const a2 = await deliver(rig, "a");
  await rig.clock.advance(QUIET.quietMs);
  for (const count of [2, 3, 4]) {
    rig.calls.at(-1)!.resolve();
    await rig.called(count);
  }
  expect(rig.calls.map(({ signal }) => signal.id)).toEqual([other.id, a1.id, next.id, a2.id]);
});

test("where `newest` says that an event is older, it is not handed off; where it fails, arrival counts", async () => {
  const log = logLines();
  const answers: unknown[] = [5, 3, Number.NaN, 4];
  const rig = await startCoalescing({
    logger: log.logger,
    coalesce: {
      ...PRICE,
      types: ["*"],
      newest() {
        if (answers.length === 0) throw new Error("no time");
        return answers.shift() as number;
      },
    },
  });
  const late = [await deliver(rig, "a"), await deliver(rig, "a")];
  const failed = [await deliver(rig, "a"), await deliver(rig, "a"), await deliver(rig, "a")];
  await rig.clock.advance(QUIET.quietMs);
  await rig.called(1);
  const [a1, a2, a3, a4] = [...late, ...failed];
  expect(await rig.entry(a2?.id ?? "")).toMatchObject({ lastError: `superseded by ${a1?.id}` });
  expect(await rig.entry(a3?.id ?? "")).toMatchObject({ lastError: `superseded by ${a4?.id}` });
  expect(rig.calls[0]?.signal.id).toBe(failed[2]?.id);
  expect(log.lines.join()).toContain("coalesce.newest failed");
});

test("what names an erased event as the one that superseded it is not erased with it", async () => {
  const rig = await startCoalescing();
  const a1 = await deliver(rig, "a");
  const a2 = await deliver(rig, "a");
  expect(await rig.receiver.inbox.erase({ containing: a2.id })).toMatchObject({ erased: 1 });
  await rig.clock.advance(QUIET.quietMs);
  await rig.called(1);
  expect(rig.calls[0]?.signal.id).toBe(a1.id);
});

test("an event without a function supersedes nothing", async () => {
  const handed: string[] = [];
  const {
    deliver: send,
    clock,
    receiver,
  } = await testReceiver({
    sender: github(),
    order: true,
    coalesce: { types: ["issues"], ...QUIET },
    onEvent: { "issues.opened": (_event, { deliveryKey }) => void handed.push(deliveryKey) },
  });
  const about = (action: string) => ({
    action,
    repository: { full_name: "a/b" },
    issue: { id: 1 },
  });
  for (const [id, action] of [
    ["d-1", "opened"],
    ["d-2", "labeled"],
  ] as const) {
    const headers = { "x-github-event": "issues", "x-github-delivery": id };
    await send(about(action), { headers });
  }
  await clock.advance(QUIET.quietMs);
  expect(handed).toHaveLength(1);
  expect(handed[0]).toContain("d-1");
  expect((await receiver.inbox.get("d-2"))?.lastError).toBe("no_handler");
});

test("ranks are in the order of the numbers, and of the characters of texts", () => {
  const numbers = [-Infinity, -1e9, -2.5, -0.1, 0, 1e-9, 1, 1.5, 1e12, Infinity];
  const texts = ["", "2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z", "é", "😀"];
  for (const values of [numbers, texts]) {
    const ranks = values.map((value) => Buffer.from(rankOf(value) ?? []));
    expect(ranks.toSorted(Buffer.compare)).toEqual(ranks);
    expect(new Set(ranks.map((rank) => rank.toString("hex"))).size).toBe(values.length);
  }
  expect(rankOf(-0)).toEqual(rankOf(0));
  expect([Number.NaN, null, 7n, "x".repeat(201)].map(rankOf)).toEqual([null, null, null, null]);
});
