import type { IncomingMessage } from "node:http";
import { gzipSync } from "node:zlib";
import Fastify from "fastify";
import { expect, test } from "vitest";
import { fastifyPlugin } from "../../../src/kit/receiver/adapters/fastify-plugin.js";
import { nodeHandler } from "../../../src/kit/receiver/adapters/node-handler.js";
import { signalEvent } from "../../../src/kit/testing/index.js";
import { expectAcknowledged, expectRefused, QUARANTINED, RECEIVED } from "../expect-answer.js";
import { logLines } from "../log-lines.js";
import { delivery, listen, startReceiver } from "../serve.js";
import { exchange, MOUNT } from "../wire.js";

type WithRawBody = IncomingMessage & { rawBody?: unknown };

/** JSON that another serialisation would write in another way. */
const spaced = (): string =>
  JSON.stringify(signalEvent({ data: { title: "Zürich" } }), null, 3).replace("ü", "\\u00fc");

/** A platform that reads each body and leaves this as `rawBody`, in front of `node:http`. */
async function platform(rawBodyOf: (body: Buffer) => unknown) {
  const { logger, lines } = logLines();
  const receiver = await startReceiver({ logger, bodyLimitBytes: 10_000 });
  const handler = nodeHandler(receiver);
  const port = await listen((request: WithRawBody, response) => {
    void request.toArray().then((pieces) => {
      request.rawBody = rawBodyOf(Buffer.concat(pieces as Buffer[]));
      handler(request, response);
    });
  });
  return { receiver, port, lines };
}

test("the bytes that a platform keeps as request.rawBody are used, within the limits", async () => {
  const { receiver, port } = await platform((body) => body);
  const { headers, body } = delivery(spaced());
  expectAcknowledged(await exchange(port, { headers, body }), RECEIVED);
  const [entry] = await receiver.inbox.list();
  expect(Buffer.from((await receiver.inbox.get(entry!.eventId))?.rawBody ?? [])).toEqual(body);
  const send = (changed: Buffer) => exchange(port, { headers, body: changed });
  expectRefused(await send(body.subarray(1)), 401, "signature_mismatch");
  expectRefused(await send(Buffer.alloc(10_001, " ")), 413, "body_too_large");
  expectAcknowledged(await exchange(port, delivery("")), QUARANTINED);
  const zipped = { headers: { ...headers, "Content-Encoding": "gzip" }, body: gzipSync(body) };
  expectRefused(await exchange(port, zipped), 415, "encoding_unsupported");
});

test("a rawBody of plain bytes in a larger buffer is used, and one that is a text is not", async () => {
  const bytes = await platform((body) =>
    new Uint8Array([1, ...body, 2]).subarray(1, body.length + 1),
  );
  expectAcknowledged(await exchange(bytes.port, delivery()), RECEIVED);
  const text = await platform(String);
  expectRefused(await exchange(text.port, delivery()), 500, "body_unavailable");
  const errors = text.lines.filter((line) => line.includes('"level":50'));
  expect(errors).toHaveLength(1);
  expect(errors[0]).toMatch(/text in request\.rawBody is not used.*keep the Buffer/);
});

test("while nothing has read the stream, its bytes count and no rawBody does", async () => {
  const receiver = await startReceiver();
  const handler = nodeHandler(receiver);
  const port = await listen((request: WithRawBody, response) => {
    request.rawBody = Buffer.from("something else");
    handler(request, response);
  });
  expectAcknowledged(await exchange(port, delivery()), RECEIVED);
});

test("a hook of Fastify that reads the body can keep it as rawBody", async () => {
  const host = Fastify();
  host.addHook("preParsing", async (request, _reply, payload) => {
    Object.assign(request, { rawBody: Buffer.concat((await payload.toArray()) as Buffer[]) });
    return payload;
  });
  await host.register(fastifyPlugin(await startReceiver()), { prefix: MOUNT });
  await host.ready();
  const port = await listen(host.routing);
  const { headers, body } = delivery(spaced());
  expectAcknowledged(await exchange(port, { headers, body }), RECEIVED);
  const changed = await exchange(port, { headers, body: `${String(body)} ` });
  expectRefused(changed, 401, "signature_mismatch");
});
