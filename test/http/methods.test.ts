import { expect, test } from "vitest";
import { expectAcknowledged, expectRefused, RECEIVED } from "./expect-answer.js";
import { delivery, serve, STACKS } from "./serve.js";
import { exchange, headOf, openWire, rawRequest } from "./wire.js";

test.for(STACKS)(
  "HEAD gets the head of the 405 and no body, and the connection goes on, over $name",
  async (stack) => {
    const { port } = await serve({}, stack);
    const wire = await openWire(port);
    await wire.write(rawRequest({ method: "HEAD" }));
    const answer = await wire.next({ toHead: true });
    expect([answer.status, answer.headers["allow"]]).toEqual([405, "POST"]);
    expect(Number(answer.headers["content-length"])).toBeGreaterThan(0);
    await wire.write(rawRequest(delivery()));
    expectAcknowledged(await wire.next(), RECEIVED);
  },
);

test.for(STACKS)(
  "a PUT whose body is still under way is answered at once, and the next request after it, over $name",
  async (stack) => {
    const { port } = await serve({}, stack);
    const wire = await openWire(port);
    await wire.write(
      rawRequest({ method: "PUT", headers: { "Content-Length": "10" }, body: "12345" }),
    );
    expectRefused(await wire.next(), 405, "method_not_allowed");
    await wire.write("67890");
    await wire.write(rawRequest(delivery()));
    expectAcknowledged(await wire.next(), RECEIVED);
  },
);

test.for(STACKS)("a client that asks first is told to go on, over $name", async (stack) => {
  const { port } = await serve({}, stack);
  const { headers, body } = delivery();
  const wire = await openWire(port);
  await wire.write(headOf({ ...headers, Expect: "100-continue" }, body.byteLength));
  expect((await wire.next()).status).toBe(100);
  await wire.write(body);
  expectAcknowledged(await wire.next(), RECEIVED);
});

test.for(STACKS)(
  "a path below the mount, a query and a trailing slash are answered by the receiver, over $name",
  async (stack) => {
    const { port } = await serve({}, stack);
    for (const rest of ["/", "/x", "/x/y?z=1", "?a=b"]) {
      const path = `/webhooks/signals${rest}`;
      expectAcknowledged(await exchange(port, { ...delivery(), path }), RECEIVED);
      expectRefused(await exchange(port, { method: "GET", path }), 405, "method_not_allowed");
    }
  },
);

test("every refusal has a request id of its own, which its event carries", async () => {
  const { receiver, port } = await serve();
  const told: string[] = [];
  receiver.on("rejected", ({ requestId }) => told.push(requestId));
  const answers = [
    await exchange(port, {}),
    await exchange(port, {}),
    await exchange(port, { method: "GET" }),
  ];
  const ids = answers.map(({ body }) => (JSON.parse(body) as { request_id: string }).request_id);
  expect(ids).toEqual(told);
  expect(new Set(ids).size).toBe(3);
});
