import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import express, { type RequestHandler } from "express";
import Fastify, { type FastifyPluginAsync } from "fastify";
import { Hono } from "hono";
import { expectTypeOf, test } from "vitest";
import { captureRawBody, type DeliveryRequest, type Receiver } from "../../src/kit/index.js";
import { expressHandler } from "../../src/kit/receiver/adapters/express-handler.js";
import { fastifyPlugin } from "../../src/kit/receiver/adapters/fastify-plugin.js";
import { fetchHandler } from "../../src/kit/receiver/adapters/fetch-handler.js";
import { nodeHandler } from "../../src/kit/receiver/adapters/node-handler.js";
import { inboxPage } from "../../src/page/inbox/inbox-page.js";

// Held by `tsc -p test`: the functions below are never called.
declare const receiver: Receiver;

/**
 * `express.RequestHandler` as `@types/express` 4 has it, as far as an argument's type can tell the
 * majors apart.
 */
type Express4Handler = (
  request: IncomingMessage & { params: Record<string, string>; body: unknown; originalUrl: string },
  response: ServerResponse & { json(body: unknown): unknown; locals: Record<string, unknown> },
  next: { (error?: unknown): void; (deferToNext: "router"): void; (deferToNext: "route"): void },
) => void;

test("handlers and the inbox page fit Express 5 and 4, Fastify, Hono and node:http", () => {
  expectTypeOf<ReturnType<typeof expressHandler>>().toExtend<RequestHandler & Express4Handler>();
  expectTypeOf<ReturnType<typeof inboxPage>>().toExtend<RequestHandler & Express4Handler>();
  expectTypeOf<ReturnType<typeof fastifyPlugin>>().toExtend<FastifyPluginAsync>();
  const mount = () => [
    express().post("/webhooks/signals", expressHandler(receiver)),
    express.Router().use(expressHandler(receiver)),
    express.json({ verify: captureRawBody }),
    createServer(nodeHandler(receiver)),
    createServer(inboxPage(receiver, { authorize: "loopback" })),
    Fastify({ logger: true }).register(fastifyPlugin(receiver), { prefix: "/webhooks/signals" }),
    new Hono().all("/webhooks/signals", (context) => fetchHandler(receiver)(context.req.raw)),
    // @ts-expect-error a store is no receiver
    expressHandler({ open() {}, commit() {}, close() {} }),
  ];
  expectTypeOf(mount).toBeFunction();
});

test("the body of a delivery may be a request of node:http, the stream of a Request, or a text", () => {
  type Bodies = IncomingMessage | NonNullable<Request["body"]> | string;
  expectTypeOf<Bodies>().toExtend<DeliveryRequest["body"]>();
  expectTypeOf<object>().not.toExtend<DeliveryRequest["body"]>();
});

test("authorize may take what the application makes of a request", () => {
  interface WithSession extends express.Request {
    session: { isOperator?: boolean };
  }
  const pages = () => [
    inboxPage(receiver, { authorize: ({ headers }) => headers.authorization === "Bearer 1" }),
    express().use(
      inboxPage(receiver, { authorize: ({ session }: WithSession) => session !== null }),
    ),
    express().use(
      inboxPage(receiver, { authorize: async (request: express.Request) => request.secure }),
    ),
    // @ts-expect-error a text that is no form of authorize
    inboxPage(receiver, { authorize: "everyone" }),
    // @ts-expect-error authorize is required
    inboxPage(receiver, {}),
    // @ts-expect-error only a boolean is an answer
    inboxPage(receiver, { authorize: ({ session }: WithSession) => session.isOperator }),
  ];
  expectTypeOf(pages).toBeFunction();
});
