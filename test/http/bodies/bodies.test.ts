import { expect, test } from "vitest";
import type { RejectionCode } from "../../../src/kit/index.js";
import { signalEvent } from "../../../src/kit/testing/index.js";
import { expectAcknowledged, expectRefused, QUARANTINED, RECEIVED } from "../expect-answer.js";
import { delivery, serve, STACKS } from "../serve.js";
import { exchange, headOf, openWire, rawRequest, type RawRequest } from "../wire.js";

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
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "", "*", "json, json"]) {
      const event = signalEvent();
      const { headers, body } = delivery(event);
      const sent = { ...headers, "Content-Type": type, "Content-Encoding": "Identity" };
      expectAcknowledged(await exchange(port, { headers: sent, body }), RECEIVED);
      expect((await receiver.inbox.get(event.id))?.received.headers["content-type"]).toBe(type);
    }
  },
);

test.for(STACKS)(
  "pipelined deliveries are answered in their order, refusals among them, over $name",
  async (stack) => {
    const { receiver, port } = await serve({}, stack);
    const { headers, body } = delivery();
    const wire = await openWire(port);
    const requests: [RawRequest, number?, RejectionCode?][] = [
      [delivery()],
      [{ body: "unsigned" }, 401, "signature_missing"],
      [delivery()],
      [{ method: "GET" }, 405, "method_not_allowed"],
      [{ headers: { ...headers, "Content-Encoding": "br" }, body }, 415, "encoding_unsupported"],
      [{ headers, body: "another" }, 401, "signature_mismatch"],
      [delivery()],
    ];
    await wire.write(Buffer.concat(requests.map(([request]) => rawRequest(request))));
    for (const [, status, code] of requests)
      if (status === undefined) expectAcknowledged(await wire.next(), RECEIVED);
      else expectRefused(await wire.next(), status, code!);
    expect(await receiver.inbox.stats()).toMatchObject({ total: 3 });
  },
);

test.for(STACKS)(
  "a body that stops before its end is no error and no event, over $name",
  async (stack) => {
    const { receiver, port } = await serve({}, stack);
    const { headers, body } = delivery();
    const chunks = Buffer.from(`${body.byteLength.toString(16)}\r\n${String(body)}\r\n0\r\n\r\n`);
    for (const begun of [
      Buffer.concat([headOf(headers, body.byteLength), body.subarray(1)]),
      Buffer.concat([headOf(headers, "chunked"), chunks.subarray(0, -5)]),
      Buffer.concat([headOf({}, body.byteLength), body.subarray(1)]),
    ]) {
      for (const leave of ["end", "destroy"] as const) {
        const wire = await openWire(port);
        await wire.write(begun);
        wire[leave]();
        await wire.closed;
      }
    }
    expectAcknowledged(await exchange(port, { headers, body }), RECEIVED);
    const { deliveries, queued } = receiver.health();
    expect(deliveries).toMatchObject({ accepted: 1, rejected: 0, shed: 0 });
    expect(queued).toEqual({ events: 0, bytes: 0 });
  },
);
