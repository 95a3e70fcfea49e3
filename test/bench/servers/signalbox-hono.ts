import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import { fetchHandler } from "signalbox/fetch";
import { PATH } from "./endpoint.js";
import { startOurReceiver } from "./our-receiver.js";
import { serve } from "./serve.js";

const { receiver, handedOff, close } = await startOurReceiver();
const receive = fetchHandler(receiver);
const app = new Hono();
app.all(PATH, (context) => receive(context.req.raw));
const listener = getRequestListener(app.fetch);
serve({ listener: (request, response) => void listener(request, response), handedOff, close });
