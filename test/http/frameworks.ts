import type { RequestListener } from "node:http";
import { getRequestListener } from "@hono/node-server";
import Fastify from "fastify";
import { Hono } from "hono";
import Koa from "koa";
import type { Receiver } from "../../src/kit/index.js";
import { fastifyPlugin } from "../../src/kit/receiver/adapters/fastify-plugin.js";
import { fetchHandler } from "../../src/kit/receiver/adapters/fetch-handler.js";
import { nodeHandler } from "../../src/kit/receiver/adapters/node-handler.js";
import { MOUNT } from "./wire.js";

/** What a server decides without our adapter, so that its answer differs from all others. */
export const DIFFERENCES = {
  /**
   * These close the connection with the answer, and read no more: a client that has not looked yet
   * may find a reset.
   */
  closesWhileClientSends: ["Hono", "an iterable"],
  /**
   * If the client leaves before the handler is called, `@hono/node-server` gives a body that seems
   * to be read: 500, to nobody.
   */
  hidesEarlyLeaving: ["Hono"],
};

export async function mountInFastify(receiver: Receiver): Promise<RequestListener> {
  const fastify = Fastify();
  await fastify.register(fastifyPlugin(receiver), { prefix: MOUNT });
  await fastify.ready();
  return fastify.routing;
}

export function mountInHono(receiver: Receiver): RequestListener {
  const receive = fetchHandler(receiver);
  const listener = getRequestListener(
    new Hono().all(`${MOUNT}/*`, ({ req }) => receive(req.raw)).fetch,
  );
  return (request, response) => void listener(request, response);
}

export function mountInKoa(receiver: Receiver): RequestListener {
  const handler = nodeHandler(receiver);
  const koa = new Koa().use(async (context) => {
    context.respond = false;
    handler(context.req, context.res);
    await new Promise((resolve) => context.res.once("close", resolve));
  });
  // Koa prints every connection that ends before its answer.
  koa.silent = true;
  return koa.callback();
}

/** An adapter as a user may write it: over an iterable that uses one buffer for all its pieces. */
export function mountIterable(receiver: Receiver): RequestListener {
  return (request, response) => {
    const leaving = new AbortController();
    request.once("close", () => request.complete || leaving.abort());
    const { method = "", headers } = request;
    void receiver
      .handle({ method, headers, body: reusingOneBuffer(request), signal: leaving.signal })
      .then((answer) => {
        if (answer !== null) response.writeHead(answer.status, answer.headers).end(answer.body);
      });
  };
}

async function* reusingOneBuffer(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.alloc(65_536);
  for await (const piece of body) {
    buffer.set(piece);
    yield buffer.subarray(0, piece.byteLength);
    buffer.fill("x");
  }
}
