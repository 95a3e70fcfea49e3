import type { IncomingMessage } from "node:http";
import Fastify, { type FastifyPluginAsync } from "fastify";
import { Hono } from "hono";
import { expectTypeOf, test } from "vitest";
import type { DeliveryRequest, Receiver } from "../../src/kit/index.js";
import { fastifyPlugin } from "../../src/kit/receiver/adapters/fastify-plugin.js";
import { fetchHandler } from "../../src/kit/receiver/adapters/fetch-handler.js";

// Held by `tsc -p test`; nothing here runs a receiver.
declare const receiver: Receiver;

test("the plugin is one of Fastify 5, with and without a logger", () => {
  expectTypeOf<ReturnType<typeof fastifyPlugin>>().toExtend<FastifyPluginAsync>();
  const mount = () =>
    Fastify({ logger: true }).register(fastifyPlugin(receiver), { prefix: "/webhooks/signals" });
  expectTypeOf(mount).toBeFunction();
});

test("the handler takes the request of Hono, and gives what its route answers", () => {
  const mount = () =>
    new Hono().all("/webhooks/signals", (context) => fetchHandler(receiver)(context.req.raw));
  expectTypeOf(mount).toBeFunction();
});

test("the body of a delivery may be a request of node:http, the stream of a Request, or a text", () => {
  expectTypeOf<IncomingMessage>().toExtend<DeliveryRequest["body"]>();
  expectTypeOf<NonNullable<Request["body"]>>().toExtend<DeliveryRequest["body"]>();
  expectTypeOf<string>().toExtend<DeliveryRequest["body"]>();
  expectTypeOf<object>().not.toExtend<DeliveryRequest["body"]>();
});
