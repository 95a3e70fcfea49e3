import { expect, test, vi } from "vitest";
import {
  createReceiver,
  RetryLater,
  type DeliveryRequest,
  type SenderReceiverOptions,
} from "../../../../src/kit/index.js";
import {
  defineSender,
  type SenderDefinition,
} from "../../../../src/kit/senders/engine/define-sender.js";
import { meta } from "../../../../src/kit/senders/meta.js";
import { memoryStore } from "../../../../src/kit/stores/memory.js";
import {
  testReceiver,
  waitForEvent,
  type TestReceiver,
} from "../../../../src/kit/testing/index.js";
import { logLines } from "../../../http/log-lines.js";
import { errorOf, rejectionOf } from "../../signalbox-error-of.js";

const acme = (changes: Partial<SenderDefinition> = {}) =>
  defineSender({
    name: "acme",
    headers: ["X-Acme-Topic"],
    signature: {
      header: "X-Acme-Signature",
      digest: "sha512",
      encoding: "base64",
      time: { header: "X-Acme-Time" },
      message: ["time", ":", "body"],
    },
    read: ({ json, headers }) => ({
      id: json.fails ? json.no.thing : json.id,
      type: headers["x-acme-topic"] ?? json.type,
      subtype: json.action,
      subject: json.shop,
    }),
    ...changes,
  });
const PAID = { id: "evt_1", type: "invoice.paid", shop: "larkvoice/one" };
const LATE = { headers: { "x-acme-topic": "invoice.late" } };

type Options = Partial<SenderReceiverOptions<Record<string, unknown>>>;
const startAcme = (options: Options = {}): Promise<TestReceiver> =>
  testReceiver({ sender: acme(), ...options } as never);

test("an event of an own sender is verified, stored with its headers, and handed off with them", async () => {
  const onEvent = vi.fn();
  const { deliver, receiver } = await startAcme({ endpoint: "acme", onEvent });
  expect(await deliver(PAID, LATE)).toMatchObject({ status: 200, body: '{"received":true}' });
  expect(await waitForEvent(receiver, "evt_1")).toMatchObject({
    type: "invoice.late",
    subtype: null,
    subject: "larkvoice/one",
    sender: "acme",
  });
  expect(onEvent).toHaveBeenCalledExactlyOnceWith(
    PAID,
    expect.objectContaining({ sender: "acme" }),
  );
  const [, handoff] = onEvent.mock.calls[0] as [unknown, { headers: Record<string, string> }];
  expect(handoff.headers).toMatchObject({
    ...LATE.headers,
    "content-type": "application/json",
  });
  // The signature is there for a callback that asks for it, and not in what is logged by chance.
  expect(handoff.headers["x-acme-signature"]).toHaveLength(88);
  expect(JSON.stringify(handoff)).not.toContain(handoff.headers["x-acme-signature"]);
});

test.each([
  ["invoice.paid", undefined, "exact"],
  ["invoice.paid", "eu", "type and subtype"],
  ["invoice.late", undefined, "beginning"],
  ["invoice.late.twice", undefined, "longer beginning"],
  ["constructor", undefined, "any"],
])(
  "an event of type %s and subtype %s goes to the function for the %s",
  async (type, action, wanted) => {
    const called = vi.fn();
    const to = (name: string) => () => called(name);
    const onEvent = {
      "*": to("any"),
      "invoice.*": to("beginning"),
      "invoice.late.*": to("longer beginning"),
      "invoice.paid": to("exact"),
      "invoice.paid.eu": to("type and subtype"),
    };
    const { deliver, receiver } = await startAcme({ onEvent });
    await deliver({ ...PAID, type, action });
    await waitForEvent(receiver, "evt_1");
    expect(called.mock.calls).toEqual([[wanted]]);
  },
);

test.each(["", " invoice.paid", "invoice.paid ", "*.paid", "**", "invoice.*.x"])(
  "the key %j of onEvent, which no event can match, is refused",
  async (pattern) => {
    await expect(startAcme({ onEvent: { [pattern]: () => undefined } })).rejects.toMatchObject({
      code: "option_invalid",
      message: expect.stringContaining(`no event matches "${pattern}"`) as string,
    });
  },
);

test("a stored event is read again with its headers after a restart; one that has no function any more is kept as dead", async () => {
  const store = memoryStore();
  const later = () => {
    throw new RetryLater("no queue yet", { delayMs: 1000 });
  };
  const { clock, ...first } = await startAcme({ store, onEvent: later });
  await first.deliver(PAID, LATE);
  await first.deliver({ ...PAID, id: "evt_2" });
  for (const id of ["evt_1", "evt_2"]) await waitForEvent(first.receiver, id, { state: "ready" });
  await first.receiver.close();
  const onLate = vi.fn();
  const { receiver } = await startAcme({ store, clock, onEvent: { "invoice.late": onLate } });
  await clock.advance(1000);
  await waitForEvent(receiver, "evt_1");
  expect(onLate).toHaveBeenCalledOnce();
  const { lastError } = await waitForEvent(receiver, "evt_2", { state: "dead" });
  expect(lastError).toContain("no function for events of this type");
});

test("an event without a function is kept as done and says so, and can be replayed once there is one", async () => {
  const store = memoryStore();
  const { logger, lines } = logLines();
  const first = await startAcme({ store, logger, onEvent: { "charge.*": () => undefined } });
  for (const id of ["evt_1", "evt_2"])
    expect((await first.deliver({ ...PAID, id })).status).toBe(200);
  const told = lines.filter((line) => line.includes("no function"));
  expect(told).toHaveLength(1);
  expect(told[0]).toContain('"type":"invoice.paid"');
  expect(await first.receiver.inbox.get("evt_1")).toMatchObject({
    state: "done",
    lastError: "no_handler",
    attempts: 0,
  });
  await first.receiver.close();
  const onEvent = vi.fn();
  const { receiver } = await startAcme({ store, onEvent });
  expect(await receiver.inbox.replay("evt_1")).toBe("moved");
  await waitForEvent(receiver, "evt_1");
  expect(onEvent).toHaveBeenCalledOnce();
});

test.each<[string, object | string, string, Partial<SenderDefinition>?]>([
  ["no JSON", "{", "not_json"],
  ["no id", { type: "a" }, "event_invalid: id"],
  ["an id with a line break", { id: "a\nb", type: "a" }, "event_invalid: id"],
  ["a type that is no text", { id: "a", type: 7 }, "event_invalid: type"],
  ["null", "null", "not_an_object"],
  ["JSON of which read throws", { fails: true }, "event_invalid"],
  [
    "an async read",
    PAID,
    "event_invalid",
    { read: (() => Promise.reject(new Error("no"))) as never },
  ],
])("authentic bytes with %s are quarantined", async (_what, body, reason, changes) => {
  const { deliver, receiver } = await startAcme({ sender: acme(changes) });
  expect((await deliver(body)).body).toBe('{"received":true,"quarantined":true}');
  expect(await receiver.inbox.list()).toMatchObject([
    { state: "quarantined", lastError: reason, type: "" },
  ]);
});

test("what read gives as the event is handed off in place of the JSON", async () => {
  const onEvent = vi.fn();
  const sender = acme({ read: ({ form }) => ({ id: "1", type: form["Status"], event: form }) });
  const { deliver, receiver } = await startAcme({ sender, onEvent });
  await deliver("Status=sent&To=%2B49+1");
  await waitForEvent(receiver, "1");
  expect(onEvent.mock.calls[0]?.[0]).toEqual({ Status: "sent", To: "+49 1" });
});

test.each<[Partial<DeliveryRequest>, object]>([
  [
    { method: "GET", url: "/acme?token=mine" },
    { status: 200, body: "<b>7</b>" },
  ],
  [{ method: "GET", url: "/" }, { status: 403 }],
  [{ method: "OPTIONS" }, { status: 403 }],
  [{ method: "PUT" }, { status: 405, headers: { Allow: "GET, OPTIONS, POST" } }],
])("the handshake %j is answered by its function, or refused", async (request, wanted) => {
  const handshake: SenderDefinition["handshake"] = {
    // Without types it may return nothing.
    get: (query) => (query.get("token") === "mine" ? { text: "<b>7</b>" } : (undefined as never)),
    options: () => "refused",
  };
  const { receiver } = await startAcme({ sender: acme({ handshake }) });
  const answer = await receiver.handle({ method: "", headers: {}, body: Buffer.of(), ...request });
  expect(answer).toMatchObject(wanted);
  expect(receiver.health()).toMatchObject({ verified: answer?.status === 200 });
  expect(await receiver.inbox.list()).toEqual([]);
});

test("a handshake by POST is answered only after its signature, with the secret that signed it", async () => {
  const post: NonNullable<SenderDefinition["handshake"]>["post"] = ({ json }, secret) =>
    json.challenge === undefined ? null : { json: { [secret]: json.challenge } };
  const sender = acme({ handshake: { post } });
  const { deliver, receiver } = await startAcme({ sender, secrets: ["one", "two"] });
  expect((await deliver({ challenge: "c" }, { secret: "two" })).body).toBe('{"two":"c"}');
  expect((await deliver({ challenge: "c" }, { secret: "three" })).status).toBe(401);
  expect((await deliver(PAID)).body).toBe('{"received":true}');
  expect(await receiver.inbox.list()).toHaveLength(1);
});

test("a sender's answer and limits are the defaults, and an option goes first", async () => {
  const sender = acme({
    bodyLimitBytes: 300_000,
    toleranceSeconds: 60,
    acknowledgement: { text: "<Response/>", contentType: "text/xml" },
  });
  const big = { ...PAID, padding: "x".repeat(290_000) };
  const { deliver, clock } = await startAcme({ sender });
  for (const answer of [await deliver(big), await deliver(big)])
    expect(answer).toMatchObject({ status: 200, body: "<Response/>" });
  for (const ms of [-61_000, 61_000])
    expect((await deliver(PAID, { now: clock.now() + ms })).body).toContain(
      "timestamp_out_of_tolerance",
    );
  const strict = await startAcme({ sender, bodyLimitBytes: 1000 });
  expect((await strict.deliver(big)).status).toBe(413);
});

test("accept stores what came by the API, once, and says so", async () => {
  const onEvent = vi.fn();
  const { deliver, receiver } = await startAcme({ onEvent });
  const conflict = vi.fn();
  receiver.on("conflict", conflict);
  const body = JSON.stringify(PAID, null, 2);
  expect(await receiver.accept({ body })).toEqual({
    status: "accepted",
    eventId: "evt_1",
    type: "invoice.paid",
  });
  const entry = await waitForEvent(receiver, "evt_1");
  expect(entry.received).toMatchObject({ backfilled: true });
  expect(onEvent).toHaveBeenCalledExactlyOnceWith(PAID, expect.anything());
  expect(await receiver.accept({ body: JSON.stringify(PAID) })).toMatchObject({
    status: "duplicate",
  });
  expect(conflict).not.toHaveBeenCalled();
  expect((await deliver(PAID)).body).toContain("duplicate");
  for (const unusable of [{ body: "{" }, { body: "{}", ...LATE }])
    expect(await receiver.accept(unusable)).toMatchObject({ status: "quarantined", type: "" });
  await receiver.close();
  expect(await rejectionOf(receiver.accept({ body }))).toMatchObject({ code: "receiver_closed" });
});

const onEvent = () => undefined;
test.each([
  [
    { sender: acme({ signature: { header: "x-acme", key: "hex" } }), onEvent },
    /sender "acme": expected hex/,
  ],
  [{ sender: acme(), onSignal: onEvent }, /"onSignal".*use onEvent/],
  [{ sender: acme() }, /"onEvent".*expected a function/],
  [{ onEvent }, /"onEvent".*needs the option sender/],
  [{}, /"onSignal".*expected a function/],
  [{ sender: {}, onEvent }, /"sender".*expected a sender of signalbox\/senders/],
])("a secret or a callback that does not fit the sender is refused: %#", (options, says) => {
  const given = { secrets: "whsec_x", store: memoryStore(), logger: false, ...options };
  expect(errorOf(() => createReceiver(given as never)).message).toMatch(says);
});

test("a GET with an address that is none is a handshake like any other, and nothing of it is logged", async () => {
  const { logger, lines } = logLines();
  const sender = meta({ verifyToken: "mine" });
  const { receiver } = await testReceiver({ sender, logger, onEvent });
  const url = "//?hub.mode=subscribe&hub.challenge=42&hub.verify_token=mine";
  expect(
    await receiver.handle({ method: "GET", url, headers: {}, body: Buffer.alloc(0) }),
  ).toMatchObject({ body: "42" });
  expect(lines.join("")).not.toContain("hub.");
});
