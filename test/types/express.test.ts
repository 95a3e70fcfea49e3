import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import express, { type RequestHandler } from "express";
import { expectTypeOf, test } from "vitest";
import { captureRawBody, type Receiver } from "../../src/index.js";
import { expressHandler } from "../../src/receiver/adapters/express-handler.js";
import { nodeHandler } from "../../src/receiver/adapters/node-handler.js";

// Held by `tsc -p test`; nothing here runs a receiver.
declare const receiver: Receiver;

/** `express.RequestHandler` as `@types/express` 4 has it, as far as an argument's type can tell the majors apart. */
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
