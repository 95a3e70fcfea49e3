import Fastify from "fastify";
import { fastifyPlugin } from "signalbox/fastify";
import { PATH } from "./endpoint.js";
import { startOurReceiver } from "./our-receiver.js";
import { serve } from "./serve.js";

const { receiver, handedOff, close } = await startOurReceiver();
const app = Fastify();
app.register(fastifyPlugin(receiver), { prefix: PATH });
await app.ready();
serve({ listener: (request, response) => app.routing(request, response), handedOff, close });
