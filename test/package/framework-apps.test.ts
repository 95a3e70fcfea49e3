import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { readDocument } from "../repo/markdown.js";
import { install } from "./installed.js";
import { replayAgainst } from "./replay-against.js";

const PAGE = readDocument("docs/add-to-an-app.md");

test.each([
  ["Fastify", "signalbox/fastify", { fastify: "fastify" }, "await fastify.listen({ port });"],
  [
    "Hono",
    "new Hono()",
    { hono: "hono", "@hono/node-server": "@hono/node-server" },
    'const { serve } = await import("@hono/node-server"); serve({ fetch: hono.fetch, port });',
  ],
  ["Koa", "new Koa()", { koa: "koa" }, "koa.listen(port);"],
])(
  "an app with %s, as the page shows it, answers each delivery of replay as expected",
  async (_name, holding, packages, listen) => {
    const folder = install(packages);
    const code = `
    import { createReceiver, secretFile } from "signalbox";
    import { memoryStore } from "signalbox/stores/memory";
    const receiver = createReceiver({ secrets: secretFile("signals.secret"), store: memoryStore(), onSignal: () => {} });
    const port = Number(process.env.PORT);
    ${PAGE.block(holding).code}
    await receiver.start();
    ${listen}`;
    writeFileSync(join(folder, "app.mjs"), code);
    await replayAgainst(folder, ["node", "app.mjs"]);
  },
);
