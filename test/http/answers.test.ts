import { expect, test } from "vitest";
import { expectAcknowledged, expectRefused, RECEIVED } from "./expect-answer.js";
import { delivery, serve } from "./serve.js";
import { exchange } from "./wire.js";

test("a content encoding gets 415, identity does not", async () => {
  const { port } = await serve();
  for (const encoding of ["gzip", "br", "deflate", "GZIP", "identity, gzip", "x-unheard-of"]) {
    const { headers, body } = delivery();
    const answer = await exchange(port, {
      headers: { ...headers, "Content-Encoding": encoding },
      body,
    });
    expectRefused(answer, 415, "encoding_unsupported");
  }
  for (const encoding of ["identity", "Identity"]) {
    const { headers, body } = delivery();
    const answer = await exchange(port, {
      headers: { ...headers, "Content-Encoding": encoding },
      body,
    });
    expectAcknowledged(answer, RECEIVED);
  }
});

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
