import { expect, test } from "vitest";
import { signalEvent } from "../../src/testing/index.js";
import { DUPLICATE, expectAcknowledged, expectRefused, QUARANTINED, RECEIVED } from "./expect-answer.js";
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

test("every refusal has a request id of its own, which its event carries", async () => {
  const { receiver, port } = await serve();
  const told: string[] = [];
  receiver.on("rejected", ({ requestId }) => told.push(requestId));
  const answers = [await exchange(port, {}), await exchange(port, {}), await exchange(port, { method: "GET" })];
  const ids = answers.map(({ body }) => (JSON.parse(body) as { request_id: string }).request_id);
  expect(ids).toEqual(told);
  expect(new Set(ids).size).toBe(3);
});
