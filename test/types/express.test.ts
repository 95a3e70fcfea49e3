import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import express, { type RequestHandler } from "express";
import { expectTypeOf, test } from "vitest";
import { captureRawBody, type Receiver } from "../../src/kit/index.js";
import { expressHandler } from "../../src/kit/receiver/adapters/express-handler.js";
import { nodeHandler } from "../../src/kit/receiver/adapters/node-handler.js";
import { inboxPage } from "../../src/page/inbox/inbox-page.js";

// Held by `tsc -p test`; nothing here runs a receiver.
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

test("the handler is an Express 5 request handler", () => {
  expectTypeOf<ReturnType<typeof expressHandler>>().toExtend<RequestHandler>();
  const mount = (): void => {
    express().use("/webhooks/signals", expressHandler(receiver));
    express().post("/webhooks/signals", expressHandler(receiver));
    express.Router().use(expressHandler(receiver));
  };
  expectTypeOf(mount).toBeFunction();
});

test("the handler is an Express 4 request handler", () => {
  expectTypeOf<ReturnType<typeof expressHandler>>().toExtend<Express4Handler>();
});

test("the listener fits node:http", () => {
  const mount = () => createServer(nodeHandler(receiver));
  expectTypeOf(mount).toBeFunction();
});

test("captureRawBody fits the verify option of express.json", () => {
  const parser = (): RequestHandler => express.json({ verify: captureRawBody });
  expectTypeOf(parser).toBeFunction();
});

test("an Express handler cannot be made of anything but a receiver", () => {
  // @ts-expect-error a store is no receiver
  const mistake = () => expressHandler({ open() {}, commit() {}, close() {} });
  expectTypeOf(mistake).toBeFunction();
});

test("the inbox page fits Express 4 and 5 and node:http", () => {
  expectTypeOf<ReturnType<typeof inboxPage>>().toExtend<RequestHandler>();
  expectTypeOf<ReturnType<typeof inboxPage>>().toExtend<Express4Handler>();
  const mount = () => createServer(inboxPage(receiver, { authorize: "loopback" }));
  expectTypeOf(mount).toBeFunction();
});

test("authorize may take what the application makes of a request", () => {
  interface WithSession extends express.Request {
    session: { isOperator?: boolean };
  }
  const mount = (): void => {
    express().use(
      inboxPage(receiver, { authorize: (request) => request.headers.authorization === "Bearer 1" }),
    );
    express().use(
      inboxPage(receiver, { authorize: async (request: express.Request) => request.secure }),
    );
    express().use(
      inboxPage(receiver, { authorize: ({ session }: WithSession) => session.isOperator === true }),
    );
    // @ts-expect-error a text that is no form of authorize
    express().use(inboxPage(receiver, { authorize: "everyone" }));
    // @ts-expect-error authorize is required
    express().use(inboxPage(receiver, {}));
    const unsure = ({ session }: WithSession) => session.isOperator;
    // @ts-expect-error only a boolean is an answer
    express().use(inboxPage(receiver, { authorize: unsure }));
  };
  expectTypeOf(mount).toBeFunction();
});
