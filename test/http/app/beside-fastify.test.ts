import Fastify from "fastify";
import { expect, test } from "vitest";
import { fastifyPlugin } from "../../../src/kit/receiver/adapters/fastify-plugin.js";
import { expectAcknowledged, expectRefused, RECEIVED } from "../expect-answer.js";
import { delivery, listen, startReceiver } from "../serve.js";
import { exchange, MOUNT } from "../wire.js";

/** An application with parsers, hooks and a route of its own. */
async function behindHost() {
  const seen: string[] = [];
  const host = Fastify();
  host.addContentTypeParser("text/csv", { parseAs: "string" }, (_request, body, done) =>
    done(null, `csv ${String(body)}`),
  );
  host.addHook("onRequest", async (_request, reply) => void reply.header("X-Host", "yes"));
  host.addHook("onRequest", async (request, reply) => {
    if (request.headers["x-name"] === "odd") void reply.header("X-Name", "中");
  });
  host.addHook(
    "onResponse",
    async (request, reply) => void seen.push(`${request.url} ${reply.raw.statusCode}`),
  );
  await host.register(fastifyPlugin(await startReceiver()), { prefix: MOUNT });
  host.post("/orders", (request, reply) => void reply.send({ body: request.body }));
  await host.ready();
  return { seen, port: await listen(host.routing) };
}

test("the parsers of the application stay, and read no body of a delivery", async () => {
  const { port } = await behindHost();
  const order = (type: string, body: string) =>
    exchange(port, { path: "/orders", headers: { "Content-Type": type }, body });
  expect((await order("application/json", '{"n":1}')).body).toBe('{"body":{"n":1}}');
  expect((await order("text/csv", "a,b")).body).toBe('{"body":"csv a,b"}');
  expect((await order("text/html", "<p>")).status).toBe(415);
  const { headers, body } = delivery();
  for (const type of ["application/json", "text/csv", "text/html"]) {
    const answer = await exchange(port, {
      headers: { ...headers, "Content-Type": type },
      body: `${String(body)} `,
    });
    expectRefused(answer, 401, "signature_mismatch");
  }
});

test("the hooks of the application run, and their headers are sent with the answer", async () => {
  const { seen, port } = await behindHost();
  const answer = await exchange(port, delivery());
  expectAcknowledged(answer, RECEIVED);
  expect(answer.headers["x-host"]).toBe("yes");
  expect(seen).toEqual([`${MOUNT} 200`]);
});

test("a header that a hook has set and that cannot be sent gets Fastify's own answer", async () => {
  const { port } = await behindHost();
  const { headers, body } = delivery();
  expect((await exchange(port, { headers: { ...headers, "X-Name": "odd" }, body })).status).toBe(
    500,
  );
});

test("a route that is there twice rejects ready()", async () => {
  const host = Fastify();
  const plugin = fastifyPlugin(await startReceiver());
  for (let time = 0; time < 2; time++) host.register(plugin, { prefix: MOUNT });
  await expect(async () => host.ready()).rejects.toThrow(/already declared/);
});
