import type { Server } from "node:http";
import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";
import type { Receiver } from "signalbox";
import { fetchHandler } from "signalbox/fetch";

/** Creates the routes. The receiver is a parameter, so that tests can use another receiver. */
export function createApp(receiver: Receiver): Server {
  const app = new Hono();

  const receive = fetchHandler(receiver);
  app.all("/webhooks/{{sender}}", (context) => receive(context.req.raw));

  // Whether the process runs. It ignores the inbox, because a restart would not repair a full disk.
  app.get("/healthz", (context) => context.json({ ok: true }));
  // Whether deliveries are accepted: the receiver has started, is not closing, and its last commit
  // succeeded.
  app.get("/readyz", (context) => {
    const { ok, state } = receiver.health();
    return context.json({ ok, state }, ok ? 200 : 503);
  });

  // Add your routes here.

  return createAdaptorServer({ fetch: app.fetch }) as Server;
}
