import { expect, test } from "vitest";
import { signalEvent } from "../../../src/kit/testing/index.js";
import { expectAcknowledged, expectRefused, QUARANTINED, RECEIVED } from "../expect-answer.js";
import { delivery, serve, STACKS, tally } from "../serve.js";
import { exchange, headOf, openWire, rawRequest } from "../wire.js";

test.for(STACKS)("a request without any body has an empty one, over $name", async (stack) => {
  const { port } = await serve({}, stack);
  const wire = await openWire(port);
  for (const { headers } of [delivery(""), delivery()])
    await wire.write(rawRequest({ headers, length: false }));
  expectAcknowledged(await wire.next(), QUARANTINED);
  expectRefused(await wire.next(), 401, "signature_mismatch");
  await wire.write(rawRequest(delivery()));
  expectAcknowledged(await wire.next(), RECEIVED);
});

test.for(STACKS)(
  "the content type means nothing, nor does the encoding identity, over $name",
  async (stack) => {
    const { receiver, port } = await serve({}, stack);
    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      // No media types.
      "",
      "*",
      "json",
      "application/json, application/json",
    ]) {
      const event = signalEvent();
      const { headers, body } = delivery(event);
      const sent = { ...headers, "Content-Type": type, "Content-Encoding": "Identity" };
      const answer = await exchange(port, { headers: sent, body });
      expectAcknowledged(answer, RECEIVED);
      expect((await receiver.inbox.get(event.id))?.received.headers["content-type"]).toBe(type);
    }
  },
);

test.for(STACKS)(
  "pipelined deliveries are answered in their order, refusals among them, over $name",
  async (stack) => {
    const { receiver, port } = await serve({}, stack);
    const [one, two, three] = [delivery(), delivery(), delivery()];
    const wire = await openWire(port);
    await wire.write(
      Buffer.concat([
        rawRequest(one),
        rawRequest({ body: "unsigned" }),
        rawRequest(two),
        rawRequest({ method: "GET" }),
        rawRequest({ ...three, headers: { ...three.headers, "Content-Encoding": "br" } }),
        rawRequest(three),
        rawRequest({ headers: one.headers, body: two.body }),
        rawRequest(delivery()),
      ]),
    );
    expectAcknowledged(await wire.next(), RECEIVED);
    expectRefused(await wire.next(), 401, "signature_missing");
    expectAcknowledged(await wire.next(), RECEIVED);
    expectRefused(await wire.next(), 405, "method_not_allowed");
    expectRefused(await wire.next(), 415, "encoding_unsupported");
    expectAcknowledged(await wire.next(), RECEIVED);
    expectRefused(await wire.next(), 401, "signature_mismatch");
    expectAcknowledged(await wire.next(), RECEIVED);
    expect(await receiver.inbox.stats()).toMatchObject({ total: 4 });
  },
);

test.for(STACKS)(
  "a body that stops before its end is no error and no event, over $name",
  async (stack) => {
    const { receiver, port } = await serve({}, stack);
    const counts = tally(receiver);
    const { headers, body } = delivery();
    const chunks = Buffer.from(`${body.byteLength.toString(16)}\r\n${String(body)}\r\n0\r\n\r\n`);
    for (const { length, sent } of [
      { length: body.byteLength, sent: body.subarray(0, body.byteLength >> 1) },
      { length: "chunked" as const, sent: chunks.subarray(0, -5) },
    ]) {
      for (const leave of ["end", "destroy"] as const) {
        for (const signed of [headers, {}] as Record<string, string>[]) {
          const wire = await openWire(port);
          await wire.write(Buffer.concat([headOf(signed, length), sent]));
          wire[leave]();
          await wire.closed;
        }
      }
    }
    expectAcknowledged(await exchange(port, { headers, body }), RECEIVED);
    expect(counts).toEqual({ accepted: 1 });
    expect(receiver.health()).toMatchObject({ ok: true, queued: { events: 0, bytes: 0 } });
  },
);
