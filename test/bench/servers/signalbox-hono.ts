import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import { fetchHandler } from "signalbox/fetch";
import { PATH } from "./endpoint.js";
import { serveOurs } from "./our-receiver.js";

await serveOurs((receiver) => {
  const receive = fetchHandler(receiver);
  const listener = getRequestListener(
    new Hono().all(PATH, (context) => receive(context.req.raw)).fetch,
  );
  return (request, response) => void listener(request, response);
});
