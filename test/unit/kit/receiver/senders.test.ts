import { createHash } from "node:crypto";
import { pino } from "pino";
import { expect, test, vi } from "vitest";
import { createReceiver, RetryLater, type ReceiverOptions } from "../../../../src/kit/index.js";
import { defineSender, readable } from "../../../../src/kit/senders/engine/define-sender.js";
import type { SenderDefinition } from "../../../../src/kit/senders/engine/define-sender.js";
import type { ReadableDelivery, Sender } from "../../../../src/kit/senders/engine/sender.js";
import { meta } from "../../../../src/kit/senders/meta.js";
import { paddle } from "../../../../src/kit/senders/paddle.js";
import { standardWebhooks } from "../../../../src/kit/senders/standard-webhooks.js";
import { twitch } from "../../../../src/kit/senders/twitch.js";
import { memoryStore } from "../../../../src/kit/stores/memory.js";
import {
  signedDelivery,
  testReceiver,
  waitForEvent,
  type TestReceiver,
} from "../../../../src/kit/testing/index.js";
import { rejectionOf } from "../../signalbox-error-of.js";

const ACME: SenderDefinition<{ id: string; type: string }> = {
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
};
const acme = (changes: Partial<typeof ACME> = {}) => defineSender({ ...ACME, ...changes });
const PAID = { id: "evt_1", type: "invoice.paid", shop: "larkvoice/one" };

const get = (receiver: TestReceiver["receiver"], url: string) =>
  receiver.handle({ method: "GET", url, headers: {}, body: new Uint8Array() });

test("an event of an own sender is verified, stored with its headers, and handed off with them", async () => {
  const onEvent = vi.fn();
  const { deliver, receiver } = await testReceiver({ sender: acme(), endpoint: "acme", onEvent });
  const answer = await deliver(PAID, { headers: { "x-acme-topic": "invoice.late" } });
  expect(answer).toMatchObject({ status: 200, body: '{"received":true}' });
  const entry = await waitForEvent(receiver, "evt_1");
  expect(entry).toMatchObject({
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
    "x-acme-topic": "invoice.late",
    "content-type": "application/json",
  });
  // The signature is there for a callback that asks for it, and not in what is logged by chance.
  expect(handoff.headers["x-acme-signature"]).toHaveLength(88);
  expect(JSON.stringify(handoff)).not.toContain(handoff.headers["x-acme-signature"]);

  const again = await deliver(PAID, { headers: { "x-acme-topic": "invoice.late" } });
  expect(again.body).toBe('{"received":true,"duplicate":true}');
  const forged = await deliver(PAID, { secret: "another" });
  expect(forged).toMatchObject({
    status: 401,
    body: expect.stringContaining("signature_mismatch"),
  });
});

test("a stored event is read again with its headers, after a restart", async () => {
  const store = memoryStore();
  const first = await testReceiver({
    sender: acme(),
    store,
    onEvent: () => Promise.reject(new Error("down")),
  });
  await first.deliver(PAID, { headers: { "x-acme-topic": "invoice.late" } });
  await waitForEvent(first.receiver, "evt_1", { state: "ready" });
  await first.receiver.close();
  const onEvent = vi.fn();
  const { clock, receiver } = await testReceiver({
    sender: acme(),
    store,
    onEvent: { "invoice.late": onEvent },
  });
  await clock.advance(3_600_000);
  await waitForEvent(receiver, "evt_1");
  expect(onEvent).toHaveBeenCalledOnce();
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
    const { deliver, receiver } = await testReceiver({
      sender: acme(),
      onEvent: {
        "*": to("any"),
        "invoice.*": to("beginning"),
        "invoice.late.*": to("longer beginning"),
        "invoice.paid": to("exact"),
        "invoice.paid.eu": to("type and subtype"),
      },
    });
    await deliver({ ...PAID, type, action });
    await waitForEvent(receiver, "evt_1");
    expect(called.mock.calls).toEqual([[wanted]]);
  },
);

test("an event without a function is kept as done and says so, and can be replayed once there is one", async () => {
  const store = memoryStore();
  const lines: object[] = [];
  const logger = pino({}, { write: (line: string) => lines.push(JSON.parse(line) as object) });
  const first = await testReceiver({
    sender: acme(),
    store,
    logger,
    onEvent: { "charge.*": () => undefined },
  });
  expect((await first.deliver(PAID)).status).toBe(200);
  await first.deliver({ ...PAID, id: "evt_2" });
  expect(lines).toMatchObject([
    {},
    { msg: "receiver started" },
    {
      msg: expect.stringContaining("no function") as string,
      type: "invoice.paid",
      endpoint: "default",
    },
  ]);
  expect(await first.receiver.inbox.get("evt_1")).toMatchObject({
    state: "done",
    lastError: "no_handler",
    attempts: 0,
  });
  await first.receiver.close();
  const onEvent = vi.fn();
  const { receiver } = await testReceiver({ sender: acme(), store, onEvent });
  expect(await receiver.inbox.replay("evt_1")).toBe("moved");
  await waitForEvent(receiver, "evt_1");
  expect(onEvent).toHaveBeenCalledOnce();
});

test.each([
  ["no JSON", "{", "not_json"],
  ["no id", { type: "a" }, "event_invalid: id"],
  ["an id with a line break", { id: "a\nb", type: "a" }, "event_invalid: id"],
  ["a type that is no text", { id: "a", type: 7 }, "event_invalid: type"],
  ["null", "null", "not_an_object"],
  ["JSON of which read throws", { fails: true }, "event_invalid"],
])("authentic bytes with %s are quarantined", async (_what, body, reason) => {
  const { deliver, receiver } = await testReceiver({ sender: acme() });
  expect((await deliver(body)).body).toBe('{"received":true,"quarantined":true}');
  expect(await receiver.inbox.list()).toMatchObject([
    { state: "quarantined", lastError: reason, type: "" },
  ]);
});

test("without an id the hash of the body is the id", async () => {
  const read = ({ form }: ReadableDelivery) => ({
    id: null,
    type: form["Status"],
    event: form as never,
  });
  const sender = acme({ headers: [], read });
  const onEvent = vi.fn();
  const { deliver, receiver } = await testReceiver({ sender, onEvent });
  const body = "Status=sent&To=%2B49+1";
  const form = { headers: { "content-type": "application/x-www-form-urlencoded" } };
  await deliver(body, form);
  const id = `sha256:${createHash("sha256").update(body).digest("hex")}`;
  expect(await waitForEvent(receiver, id)).toMatchObject({ type: "sent" });
  expect(onEvent.mock.calls[0]?.[0]).toEqual({ Status: "sent", To: "+49 1" });
  expect((await deliver(body, form)).body).toContain("duplicate");
});

test("a handshake by GET is answered as text, and refused with 403; no other method than POST is taken", async () => {
  const { receiver } = await testReceiver({
    sender: acme({
      handshake: {
        get: (query) => (query.get("token") === "mine" ? { text: "<b>7</b>" } : "refused"),
      },
    }),
  });
  const answer = await get(receiver, "/webhooks/acme?token=mine");
  expect(answer).toMatchObject({ status: 200, body: "<b>7</b>" });
  expect(answer.headers).toMatchObject({
    "Content-Type": "text/plain; charset=utf-8",
    "X-Content-Type-Options": "nosniff",
  });
  expect(await get(receiver, "/?token=other")).toMatchObject({
    status: 403,
    body: expect.stringContaining("handshake_refused"),
  });
  const refused = await receiver.handle({ method: "PUT", headers: {}, body: new Uint8Array() });
  expect(refused).toMatchObject({ status: 405, headers: { Allow: "GET, POST" } });
  expect(receiver.health()).toMatchObject({ verified: true });
  expect(await receiver.inbox.list()).toEqual([]);
});

test("a handshake by POST is answered only after its signature, with the secret that signed it", async () => {
  const { deliver, receiver } = await testReceiver({
    sender: acme({
      handshake: {
        post: ({ json }, secret) =>
          json.challenge === undefined ? null : { json: { [secret]: json.challenge } },
      },
    }),
    secrets: ["one", "two"],
  });
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
  const { deliver, clock } = await testReceiver({ sender });
  expect(await deliver(big)).toMatchObject({ status: 200, body: "<Response/>" });
  expect(await deliver(big)).toMatchObject({ status: 200, body: "<Response/>" });
  expect((await deliver(PAID, { now: clock.now() - 61_000 })).body).toContain(
    "timestamp_out_of_tolerance",
  );
  expect((await deliver(PAID, { now: clock.now() + 61_000 })).body).toContain(
    "timestamp_out_of_tolerance",
  );
  const strict = await testReceiver({ sender, bodyLimitBytes: 1000 });
  expect((await strict.deliver(big)).status).toBe(413);
});

test("accept stores what came by the API, once, and says so", async () => {
  const onEvent = vi.fn();
  const { deliver, receiver } = await testReceiver({ sender: acme(), onEvent });
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
  expect(await receiver.accept({ body: "{" })).toMatchObject({ status: "quarantined", type: "" });
  expect(await receiver.accept({ body: "{}", headers: { "X-Acme-Topic": "a" } })).toMatchObject({
    type: "",
  });
  await receiver.close();
  expect(await rejectionOf(receiver.accept({ body }))).toMatchObject({ code: "receiver_closed" });
});

test("a secret that a sender cannot use, and a callback of another kind, are refused at construction", () => {
  const base = { secrets: "whsec_x", store: memoryStore(), logger: false } as const;
  const codeOf = (options: object): unknown => {
    try {
      return createReceiver(options as ReceiverOptions);
    } catch (error) {
      return (error as Error).message;
    }
  };
  const hexKeyed = acme({ signature: { header: "x-acme-signature", key: "hex" } });
  expect(codeOf({ ...base, sender: hexKeyed, onEvent() {} })).toMatch(
    /sender "acme": expected hex/,
  );
  expect(codeOf({ ...base, sender: acme(), onSignal() {} })).toMatch(/"onSignal".*use onEvent/);
  expect(codeOf({ ...base, sender: acme() })).toMatch(/"onEvent".*expected a function/);
  expect(codeOf({ ...base, onEvent() {} })).toMatch(/"onEvent".*needs the option sender/);
  expect(codeOf({ ...base })).toMatch(/"onSignal".*expected a function/);
  expect(codeOf({ ...base, sender: {}, onEvent() {} })).toMatch(
    /"sender".*expected a sender of signalbox\/senders/,
  );
});

test.each(["webhook-signature", "paddle-signature"])(
  "a header %s that was sent twice is malformed",
  async (name) => {
    const sender: Sender<object> = name === "paddle-signature" ? paddle() : standardWebhooks();
    const { headers, body } = signedDelivery(
      { type: "a" },
      { sender, secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" },
    );
    const { receiver } = await testReceiver({
      sender,
      secrets: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    });
    const twice = { ...headers, [name]: [headers[name] ?? "", headers[name] ?? ""] };
    expect(await receiver.handle({ method: "POST", headers: twice, body })).toMatchObject({
      status: 401,
      body: expect.stringContaining("signature_malformed"),
    });
  },
);

test("a batch of drops of Twitch is of the type of its subscription", () => {
  const body = Buffer.from(
    JSON.stringify({
      subscription: { type: "drop.entitlement.grant", status: "enabled" },
      events: [{ id: "1" }],
    }),
  );
  const headers = { "twitch-eventsub-message-id": "1" };
  expect(twitch().read(readable(body, headers))).toMatchObject({ type: "drop.entitlement.grant" });
});

test("a stored event that has no function any more is kept as dead", async () => {
  const store = memoryStore();
  const later = () => {
    throw new RetryLater("no queue yet", { delayMs: 1000 });
  };
  const first = await testReceiver({ sender: acme(), store, onEvent: later });
  await first.deliver(PAID);
  await waitForEvent(first.receiver, "evt_1", { state: "ready" });
  await first.receiver.close();
  const { clock } = first;
  const second = await testReceiver({
    sender: acme(),
    store,
    clock,
    onEvent: { "invoice.piad": later },
  });
  await clock.advance(1000);
  const { lastError } = await waitForEvent(second.receiver, "evt_1", { state: "dead" });
  expect(lastError).toContain("no function for events of this type");
});

test("a GET with an address that is none is a handshake like any other, and nothing of it is logged", async () => {
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => lines.push(line) });
  const { receiver } = await testReceiver({
    sender: meta({ verifyToken: "mine" }),
    logger,
    onEvent: () => undefined,
  });
  const url = "//?hub.mode=subscribe&hub.challenge=42&hub.verify_token=mine";
  expect(
    await receiver.handle({ method: "GET", url, headers: {}, body: Buffer.alloc(0) }),
  ).toMatchObject({
    body: "42",
  });
  expect(lines.join("")).not.toContain("hub.");
});

test("an async read is no event, and an id with a dot could be cut elsewhere", async () => {
  const read = (async () => Promise.reject(new Error("no"))) as never;
  const { deliver } = await testReceiver({ sender: acme({ read }), onEvent: () => undefined });
  expect((await deliver(PAID)).body).toContain("quarantined");
  const sender = standardWebhooks();
  const { deliver: send } = await testReceiver({
    sender,
    secrets: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    onEvent: () => undefined,
  });
  expect((await send({ type: "a" }, { headers: { "webhook-id": "msg.1" } })).status).toBe(401);
  expect(() => acme({ name: "signals" })).toThrow("another name");
});
