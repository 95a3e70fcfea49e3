// Hono on Node that reads the body, stores nothing and checks nothing.
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import { PATH } from "./endpoint.js";
import { serve } from "./serve.js";

const app = new Hono();
app.post(PATH, async (context) => {
  await context.req.arrayBuffer();
  return context.json({ received: true });
});
const listener = getRequestListener(app.fetch);
serve({ listener: (request, response) => void listener(request, response) });
