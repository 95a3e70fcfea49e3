import { expect, test, vi } from "vitest";
import {
  PermanentFailure,
  type HandoffCallback,
  type Receiver,
} from "../../../../src/kit/index.js";
import {
  defineSender,
  type SenderDefinition,
} from "../../../../src/kit/senders/engine/define-sender.js";
import type {
  AnySender,
  ReadableDelivery,
  Reading,
} from "../../../../src/kit/senders/engine/sender.js";
import { linear } from "../../../../src/kit/senders/linear.js";
import { memoryStore } from "../../../../src/kit/stores/memory.js";
import {
  testReceiver,
  waitForEvent,
  type TestReceiver,
} from "../../../../src/kit/testing/index.js";
import { logLines } from "../../../http/log-lines.js";
import { faultyStore, rowError } from "../inbox/faulty-store.js";

type Facts = Partial<Record<"id" | "type" | "action" | "shop", string>>;

/** Signs the body alone: whoever has a delivery can send its body under any of these headers. */
function shop(changes: Partial<SenderDefinition> = {}) {
  return defineSender({
    name: "shop",
    signature: { header: "x-sign" },
    headers: ["x-id", "x-type", "x-action", "x-shop"],
    unsignedId: true,
    read: ({ headers }) => ({
      id: headers["x-id"],
      type: headers["x-type"],
      subtype: headers["x-action"],
      subject: headers["x-shop"],
    }),
    ...changes,
  });
}

async function send(
  { deliver }: Pick<TestReceiver, "deliver">,
  body: object | string,
  facts: Facts,
): Promise<string> {
  const { id = "1", type = "paid", action, shop: subject } = facts;
  const headers = { "x-id": id, "x-type": type, "x-action": action, "x-shop": subject };
  const { status, body: answer } = await deliver(body, {
    headers: JSON.parse(JSON.stringify(headers)) as Record<string, string>,
  });
  return `${status} ${answer}`;
}

const RECEIVED = '200 {"received":true}';
const DUPLICATE = '200 {"received":true,"duplicate":true}';
const OWN_ID = /^(.*)~[0-9a-f]{32}$/;

const idsOf = async ({ inbox }: Receiver) => (await inbox.list()).map(({ eventId }) => eventId);
const heard = (receiver: Receiver) => {
  const events: string[] = [];
  for (const name of ["accepted", "duplicate", "conflict", "quarantined"] as const) {
    receiver.on(name, ({ eventId }) => events.push(`${name} ${eventId.replace(OWN_ID, "$1~")}`));
  }
  return events;
};

test.each([
  ["a first attempt that failed, with a made-up action", { order: 1 }, { action: "zzz" }],
  ["a first attempt that failed, of another shop", { order: 1 }, { shop: "zzz" }],
  ["an older delivery under the id of the event", { order: 0 }, {}],
])("%s makes no event vanish", async (_what, captured, facts) => {
  const onEvent = vi.fn();
  const rig = await testReceiver({ sender: shop(), onEvent: { paid: onEvent } });
  const events = heard(rig.receiver);
  expect(await send(rig, captured, facts)).toBe(RECEIVED);
  expect(await send(rig, { order: 1 }, {})).toBe(RECEIVED);
  expect(await send(rig, { order: 1 }, {})).toBe(DUPLICATE);
  expect(await send(rig, captured, facts)).toBe(DUPLICATE);
  expect(events).toEqual(["accepted 1", "conflict 1~", "duplicate 1~", "duplicate 1"]);
  const [, own = ""] = await idsOf(rig.receiver);
  expect(await waitForEvent(rig.receiver, own)).toMatchObject({ state: "done", type: "paid" });
  const handed = onEvent.mock.calls.map(([event, handoff]: unknown[]) => [event, handoff]);
  expect(handed).toContainEqual([
    { order: 1 },
    expect.objectContaining({ deliveryKey: `default/${own}` }),
  ]);
});

test("an id of the form of an own one is no place that somebody else can take", async () => {
  const probe = await testReceiver({ sender: shop() });
  await send(probe, { order: 0 }, {});
  await send(probe, { order: 1 }, {});
  const [, own = ""] = await idsOf(probe.receiver);

  const rig = await testReceiver({ sender: shop() });
  await send(rig, { order: 0 }, { id: own });
  await send(rig, { order: 0 }, {});
  expect(await send(rig, { order: 1 }, {})).toBe(RECEIVED);
  expect(await send(rig, { order: 1 }, {})).toBe(DUPLICATE);
  expect(await send(rig, { order: 0 }, { id: own })).toBe(DUPLICATE);
  expect(await rig.receiver.inbox.get(own)).toMatchObject({ rawBody: Buffer.from('{"order":1}') });
  expect(await idsOf(rig.receiver)).toHaveLength(3);
});

test("the longest id has room for a hash, and its event is found, replayed and erased by the id that it got", async () => {
  const id = "i".repeat(255);
  const onEvent = () => Promise.reject(new PermanentFailure("no"));
  const rig = await testReceiver({ sender: shop(), onEvent });
  for (const order of [0, 1]) await send(rig, { order }, { id });
  const [, own = ""] = await idsOf(rig.receiver);
  expect(own).toHaveLength(255 + 33);
  await waitForEvent(rig.receiver, own, { state: "dead" });
  expect(await rig.receiver.inbox.replay(own)).toBe("moved");
  await waitForEvent(rig.receiver, own, { state: "dead" });
  expect(await rig.receiver.inbox.discard(own)).toBe("moved");
});

test("without an id, bytes that were sent with a broken header do not make their event vanish", async () => {
  const read = ({ headers }: ReadableDelivery) => ({ id: null, type: headers["x-type"] });
  const rig = await testReceiver({ sender: shop({ read }) });
  const events = heard(rig.receiver);
  expect(await send(rig, { order: 1 }, { type: "a\tb" })).toContain("quarantined");
  expect(await send(rig, { order: 1 }, {})).toBe(RECEIVED);
  expect(await send(rig, { order: 1 }, {})).toBe(DUPLICATE);
  const names = events.map((event) => event.split(" ")[0]);
  expect(names).toEqual(["quarantined", "conflict", "duplicate"]);
  const [, own = ""] = await idsOf(rig.receiver);
  await waitForEvent(rig.receiver, own);
});

test("the same bytes under a new id are handed off as possibly repeated, also after a restart and a claim", async () => {
  const store = memoryStore();
  const { logger, lines } = logLines();
  const marks: [string, boolean][] = [];
  const onEvent: HandoffCallback<unknown> = (_event, { deliveryKey, possiblyRepeated }) => {
    const id = deliveryKey.replace("default/", "");
    marks.push([id, possiblyRepeated]);
    if (id === "3" && marks.length === 3) throw new Error("down");
  };
  const { clock, ...first } = await testReceiver({ sender: shop(), store, logger, onEvent });
  for (const id of ["1", "2", "2"]) await send(first, { order: 1 }, { id });
  await waitForEvent(first.receiver, "2");
  await first.receiver.close();

  const second = await testReceiver({ sender: shop(), store, logger, onEvent, clock });
  await clock.advance(1000);
  await send(second, { order: 1 }, { id: "3" });
  await send(second, { order: 2 }, { id: "4" });
  await waitForEvent(second.receiver, "4");
  await waitForEvent(second.receiver, "3", { state: "ready" });
  await clock.advance(60_000);
  expect(marks).toEqual([
    ["1", false],
    ["2", true],
    ["3", true],
    ["4", false],
    ["3", true],
  ]);
  const told = lines.filter((line) => line.includes("bytes of an earlier one"));
  expect(told.map((line) => (JSON.parse(line) as { eventId: string }).eventId)).toEqual(["2", "3"]);
  expect(await second.receiver.inbox.get("2")).toMatchObject({ possiblyRepeated: true });
});

test("an event that could not be stored is not taken for repeated when it comes again", async () => {
  const store = faultyStore();
  const rig = await testReceiver({ sender: shop(), store, onEvent: () => {} });
  store.fail(rowError());
  expect(await send(rig, { order: 1 }, {})).toContain("503");
  store.fail(null);
  expect(await send(rig, { order: 1 }, {})).toBe(RECEIVED);
  expect(await waitForEvent(rig.receiver, "1")).toMatchObject({ possiblyRepeated: false });
});

test("a sender that drops repeated bodies drops them only with the same type, subtype and subject", async () => {
  const rig = await testReceiver({ sender: shop({ repeatedBody: "drop" }) });
  for (const [order, facts, answer] of [
    [1, { id: "1" }, RECEIVED],
    [1, { id: "2" }, DUPLICATE],
    [1, { id: "3", shop: "two" }, RECEIVED],
    [1, { id: "3", shop: "two" }, DUPLICATE],
    [1, { id: "4", action: "x" }, RECEIVED],
    [1, { id: "5", type: "late" }, RECEIVED],
    [2, { id: "1" }, RECEIVED],
    [2, { id: "6" }, DUPLICATE],
  ] as const)
    expect(await send(rig, { order }, { shop: "one", ...facts }), facts.id).toBe(answer);
  const entries = await rig.receiver.inbox.list();
  const ids = entries.map(({ eventId }) => eventId.replace(OWN_ID, "$1~"));
  expect(ids).toEqual(["1", "3", "4", "5", "1~"]);
  expect(entries.some(({ possiblyRepeated }) => possiblyRepeated)).toBe(false);
});

test("an event of Linear that version 0.2.0 stored under its header's id is known by its body", async () => {
  const store = memoryStore();
  const old: AnySender = {
    ...linear(),
    read: (delivery) => ({ ...linear().read(delivery), id: "1" }) as Reading,
  };
  const body = { type: "Issue", action: "create", webhookTimestamp: Date.now() };
  const first = await testReceiver({ sender: old, store });
  expect((await first.deliver(body)).body).toBe('{"received":true}');
  await first.receiver.close();
  const { deliver, receiver } = await testReceiver({ sender: linear(), store });
  expect((await deliver(body)).body).toContain("duplicate");
  expect(await idsOf(receiver)).toEqual(["1"]);
});

test("what came by accept is known by its id alone, before its delivery and after, since an API writes the body in another way", async () => {
  const rig = await testReceiver({ sender: shop(), onEvent: () => {} });
  const accept = (id: string) =>
    rig.receiver.accept({ body: '{ "order": 1 }', headers: { "x-id": id, "x-type": "paid" } });
  await send(rig, { order: 1 }, { id: "1" });
  expect(await accept("1")).toMatchObject({ status: "duplicate" });
  expect(await accept("2")).toMatchObject({ status: "accepted" });
  expect(await send(rig, { order: 1 }, { id: "2" })).toBe(DUPLICATE);
  expect(await idsOf(rig.receiver)).toEqual(["1", "2"]);
});

test("an event of a sender with the same signature header, waiting or quarantined, is not read by another, but by one that adopts it", async () => {
  const store = memoryStore();
  const down = () => Promise.reject(new Error("down"));
  const read = ({ headers }: ReadableDelivery) =>
    headers["x-type"] === "odd" ? { id: 7, type: "x" } : { id: "1", type: "paid" };
  const { clock, ...first } = await testReceiver({ sender: shop({ read }), store, onEvent: down });
  await send(first, { order: 1 }, {});
  await send(first, { order: 2 }, { type: "odd" });
  const quarantined = (await idsOf(first.receiver))[1] ?? "";
  await waitForEvent(first.receiver, "1", { state: "ready" });
  await first.receiver.close();

  const stolen = vi.fn();
  const bank = await testReceiver({
    sender: shop({ name: "bank" }),
    store,
    clock,
    onEvent: stolen,
  });
  await clock.advance(60_000);
  const { lastError } = await waitForEvent(bank.receiver, "1", { state: "dead" });
  expect(lastError).toBe(
    'other_sender: It was stored by the sender "shop", not by "bank". Give each an endpoint, or add alsoReads: ["shop"]; then replay it.',
  );
  expect(await bank.receiver.inbox.replay(quarantined)).toBe("still_unusable");
  await bank.receiver.close();
  expect(stolen).not.toHaveBeenCalled();

  const sender = shop({ name: "bank", alsoReads: ["shop"] });
  const heir = await testReceiver({ sender, store, clock });
  for (const id of ["1", quarantined]) expect(await heir.receiver.inbox.replay(id)).toBe("moved");
  // The one that was quarantined has the id of the other, and so gets one of its own.
  const own = (await idsOf(heir.receiver)).find((id) => id !== "1") ?? "";
  expect(own).toMatch(/^1~/);
  for (const id of ["1", own]) await waitForEvent(heir.receiver, id);
});
