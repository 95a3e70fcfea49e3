import { expect, test } from "vitest";
import { signalEvent } from "../../../src/kit/testing/index.js";
import { expectAcknowledged, expectRefused, QUARANTINED, RECEIVED } from "../expect-answer.js";
import { delivery, serve, STACKS, tally } from "../serve.js";
import { exchange, openWire, rawRequest } from "../wire.js";

const chunked = (pieces: readonly (string | Uint8Array)[]): Buffer =>
  Buffer.concat([
    ...pieces.flatMap((piece) => {
      const bytes = Buffer.from(piece);
      return [Buffer.from(`${bytes.byteLength.toString(16)}\r\n`), bytes, Buffer.from("\r\n")];
    }),
    Buffer.from("0\r\n\r\n"),
  ]);

test.for(STACKS)(
  "an empty body is told by its signature, with and without a length, over $name",
  async (stack) => {
    const { port } = await serve({}, stack);
    const { headers } = delivery("");
    const wire = await openWire(port);
    await wire.write(rawRequest({ headers }));
    expectAcknowledged(await wire.next(), QUARANTINED);
    await wire.write(rawRequest({ headers, length: false }));
    expectAcknowledged(await wire.next(), QUARANTINED);
    await wire.write(rawRequest({ headers: delivery().headers }));
    expectRefused(await wire.next(), 401, "signature_mismatch");
    await wire.write(rawRequest({}));
    expectRefused(await wire.next(), 401, "signature_missing");
    await wire.write(rawRequest(delivery()));
    expectAcknowledged(await wire.next(), RECEIVED);
  },
);

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
    const chunks = chunked([body]);
    for (const { framing, sent } of [
      {
        framing: { "Content-Length": String(body.byteLength) },
        sent: body.subarray(0, body.byteLength >> 1),
      },
      { framing: { "Transfer-Encoding": "chunked" }, sent: chunks.subarray(0, -5) },
    ]) {
      for (const leave of ["end", "destroy"] as const) {
        for (const signed of [headers, {}]) {
          const wire = await openWire(port);
          await wire.write(
            Buffer.concat([
              rawRequest({ headers: { ...signed, ...framing }, length: false }),
              sent,
            ]),
          );
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
