import Fastify from "fastify";
import { fastifyPlugin } from "signalbox/fastify";
import { PATH } from "./endpoint.js";
import { serveOurs } from "./our-receiver.js";

await serveOurs(async (receiver) => {
  const app = Fastify();
  app.register(fastifyPlugin(receiver), { prefix: PATH });
  await app.ready();
  return (request, response) => app.routing(request, response);
});
