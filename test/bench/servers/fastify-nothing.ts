// Fastify that reads the body, stores nothing and checks nothing.
import Fastify from "fastify";
import { PATH } from "./endpoint.js";
import { serve } from "./serve.js";

const app = Fastify();
app.removeAllContentTypeParsers();
app.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
app.post(PATH, async () => ({ received: true }));
await app.ready();
serve({ listener: (request, response) => app.routing(request, response) });
