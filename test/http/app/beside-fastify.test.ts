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
  host.addHook("onRequest", async (request, reply) => {
    void reply.header("X-Host", request.headers["x-name"] === "odd" ? "中" : "yes");
  });
  host.addHook(
    "onResponse",
    async ({ url }, { raw }) => void seen.push(`${url} ${raw.statusCode}`),
  );
  await host.register(fastifyPlugin(await startReceiver()), { prefix: MOUNT });
  host.post("/orders", async ({ body }) => ({ body }));
  await host.ready();
  return { seen, port: await listen(host.routing) };
}

test("the parsers of the application stay, and read no body of a delivery", async () => {
  const { port } = await behindHost();
  const { headers, body } = delivery();
  for (const [type, text, answered] of [
    ["application/json", '{"n":1}', '{"body":{"n":1}}'],
    ["text/csv", "a,b", '{"body":"csv a,b"}'],
    ["text/html", "<p>", "FST_ERR_CTP_INVALID_MEDIA_TYPE"],
  ] as const) {
    const order = { path: "/orders", headers: { "Content-Type": type }, body: text };
    expect((await exchange(port, order)).body).toContain(answered);
    const forged = { headers: { ...headers, "Content-Type": type }, body: `${String(body)} ` };
    expectRefused(await exchange(port, forged), 401, "signature_mismatch");
  }
});

test("the hooks of the application run, and their headers are sent with the answer, if they can be", async () => {
  const { seen, port } = await behindHost();
  const answer = await exchange(port, delivery());
  expectAcknowledged(answer, RECEIVED);
  expect(answer.headers["x-host"]).toBe("yes");
  expect(seen).toEqual([`${MOUNT} 200`]);
  const { headers, body } = delivery();
  const odd = await exchange(port, { headers: { ...headers, "X-Name": "odd" }, body });
  expect(odd.status).toBe(500);
});

test("a route that is there twice rejects ready()", async () => {
  const host = Fastify();
  const plugin = fastifyPlugin(await startReceiver());
  for (let time = 0; time < 2; time++) host.register(plugin, { prefix: MOUNT });
  await expect(async () => host.ready()).rejects.toThrow(/already declared/);
});
