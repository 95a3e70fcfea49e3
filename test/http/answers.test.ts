import { expect, test } from "vitest";
import { signalEvent } from "../../src/testing/index.js";
import { DUPLICATE, expectAcknowledged, expectRefused, QUARANTINED, RECEIVED } from "./expect-answer.js";
import { heldStore } from "./held-store.js";
import { deliver, delivery, nextEvent, serve, sqliteOnDisk, STACKS, tally } from "./serve.js";
import { exchange } from "./wire.js";

const verification = (challenge: unknown) => ({
  id: "evt_verify",
  version: "1",
  type: "webhook.verification",
  created_at: "2026-01-01T00:00:00Z",
  data: { challenge },
});

test.for(STACKS)("a new event is received once and then known, over $name", async (stack) => {
  const { receiver, port } = await serve({ store: sqliteOnDisk() }, stack);
  const counts = tally(receiver);
  const event = signalEvent();
  expectAcknowledged(await deliver(port, event), RECEIVED);
  expectAcknowledged(await deliver(port, event), DUPLICATE);
  expect(counts).toEqual({ accepted: 1, duplicate: 1 });
  expect(await receiver.inbox.stats()).toMatchObject({ total: 1 });
});

test.for(STACKS)("a known id with another body is acknowledged and the first body stays, over $name", async (stack) => {
  const { receiver, port } = await serve({ store: sqliteOnDisk() }, stack);
  const conflict = nextEvent(receiver, "conflict");
  const event = signalEvent({ data: { title: "first" } });
  await deliver(port, event);
  expectAcknowledged(await deliver(port, { ...event, data: { ...event.data, title: "second" } }), DUPLICATE);
  expect(await conflict).toEqual({ eventId: event.id, type: event.type, deliveryKey: `default/${event.id}` });
  const stored = await receiver.inbox.get(event.id);
  expect(JSON.parse(String(Buffer.from(stored?.rawBody ?? [])))).toEqual(event);
});

test.for(STACKS)("authentic but unusable bytes are kept byte for byte in quarantine, over $name", async (stack) => {
  const { receiver, port } = await serve({ store: sqliteOnDisk() }, stack);
  const counts = tally(receiver);
  const bodies = ["{not json", "[]", "", '{"id":"x"}', Buffer.from([0xff, 0x00, 0xfe, 0x0d, 0x0a])];
  for (const body of bodies) expectAcknowledged(await deliver(port, body), QUARANTINED);
  expectAcknowledged(await deliver(port, verification(undefined)), QUARANTINED);
  expect(counts).toEqual({ quarantined: bodies.length + 1 });
  const entries = await receiver.inbox.list({ state: "quarantined" });
  const kept = await Promise.all(entries.map(async ({ eventId }) => (await receiver.inbox.get(eventId))?.rawBody));
  const expected = [...bodies, JSON.stringify(verification(undefined))].map((body) => Buffer.from(body));
  expect(kept.map((body) => Buffer.from(body ?? []))).toEqual(expected);
});

test.for(["signal.retracted", "constructor", "__proto__"])(
  "an event of type %s is stored and acknowledged",
  async (type) => {
    const { receiver, port } = await serve({ store: sqliteOnDisk() });
    const event = { id: "evt_new", version: "1", type, created_at: "2026-01-01T00:00:00Z", data: null };
    expectAcknowledged(await deliver(port, event), RECEIVED);
    expectAcknowledged(await deliver(port, event), DUPLICATE);
    expect(await receiver.inbox.get("evt_new")).toMatchObject({
      type,
      state: "quarantined",
      lastError: "unknown_type",
    });
  },
);

test.for(STACKS)("a challenge comes back as it was sent, as often as it is sent, over $name", async (stack) => {
  const { receiver, port } = await serve({}, stack);
  const counts = tally(receiver);
  const challenges = ["abc", "", "Zürich 🚉 日本語", '"quoted"\\ \n\u2028', "\ud800"];
  for (const challenge of [...challenges, ...challenges]) {
    const answer = await deliver(port, verification(challenge));
    expectAcknowledged(answer, JSON.stringify({ challenge }));
  }
  expect(counts).toEqual({ verified: 10 });
  expect(await receiver.inbox.stats()).toMatchObject({ total: 0 });
});

test.for(STACKS)("a signature that is missing, malformed, wrong or stale gets 401, over $name", async (stack) => {
  const { receiver, port } = await serve({}, stack);
  const counts = tally(receiver);
  const { headers, body } = delivery();
  expectRefused(await exchange(port, { headers: {}, body }), 401, "signature_missing");
  expectRefused(await exchange(port, { headers: { "X-Service-Signature": "v1=0" }, body }), 401, "signature_malformed");
  expectRefused(await exchange(port, { headers, body: `${String(body)} ` }), 401, "signature_mismatch");
  const forged = delivery(signalEvent(), { secret: "whsec_of_somebody_else" });
  expectRefused(await exchange(port, forged), 401, "signature_mismatch");
  const stale = delivery(signalEvent(), { now: Date.now() - 600_000 });
  expectRefused(await exchange(port, stale), 401, "timestamp_out_of_tolerance");
  expect(counts).toEqual({ rejected: 5 });
  expect(await receiver.inbox.stats()).toMatchObject({ total: 0 });
});

test.for(STACKS)("a body that is too large gets 413 and the connection is closed, over $name", async (stack) => {
  const { port } = await serve({ bodyLimitBytes: 1000 }, stack);
  const atLimit = signalEvent({ data: { summary: "" } });
  atLimit.data.summary = "x".repeat(1000 - JSON.stringify(atLimit).length);
  expectAcknowledged(await deliver(port, atLimit), RECEIVED);
  const answer = await deliver(port, `${JSON.stringify(atLimit)} `);
  expectRefused(answer, 413, "body_too_large");
  expect(answer.headers["connection"]).toBe("close");
});

test.for(STACKS)("a content encoding gets 415, identity does not, over $name", async (stack) => {
  const { port } = await serve({}, stack);
  for (const encoding of ["gzip", "br", "deflate", "GZIP", "identity, gzip", "x-unheard-of"]) {
    const { headers, body } = delivery();
    const answer = await exchange(port, { headers: { ...headers, "Content-Encoding": encoding }, body });
    expectRefused(answer, 415, "encoding_unsupported");
  }
  for (const encoding of ["identity", "Identity"]) {
    const { headers, body } = delivery();
    const answer = await exchange(port, { headers: { ...headers, "Content-Encoding": encoding }, body });
    expectAcknowledged(answer, RECEIVED);
  }
});

test.for(STACKS)("a store that fails gets 503 and nothing is acknowledged, over $name", async (stack) => {
  const { store } = heldStore();
  let fails = true;
  const failing = {
    ...store,
    commit: (batch: Parameters<typeof store.commit>[0]) =>
      fails ? Promise.reject(new Error("no space left on device")) : store.commit(batch),
  };
  const { receiver, port } = await serve({ store: failing }, stack);
  const event = signalEvent();
  expectRefused(await deliver(port, event), 503, "store_unavailable");
  expect(receiver.health()).toMatchObject({ ok: false });
  fails = false;
  expectAcknowledged(await deliver(port, event), RECEIVED);
  expect(receiver.health()).toMatchObject({ ok: true });
});

test("every refusal has a request id of its own, which its event carries", async () => {
  const { receiver, port } = await serve();
  const told: string[] = [];
  receiver.on("rejected", ({ requestId }) => told.push(requestId));
  const answers = [await exchange(port, {}), await exchange(port, {}), await exchange(port, { method: "GET" })];
  const ids = answers.map(({ body }) => (JSON.parse(body) as { request_id: string }).request_id);
  expect(ids).toEqual(told);
  expect(new Set(ids).size).toBe(3);
});
