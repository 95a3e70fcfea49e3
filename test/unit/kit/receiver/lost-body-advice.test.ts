import { once } from "node:events";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import type { DeliveryRequest } from "../../../../src/kit/index.js";
import { fetchHandler } from "../../../../src/kit/receiver/adapters/fetch-handler.js";
import { logLines } from "../../../http/log-lines.js";
import { codeOf, startRig } from "../inbox/receiver-rig.js";

/** Gives the receiver this body, which cannot be had, and returns what the log says. */
async function adviceFor(body: unknown): Promise<string> {
  const { logger, lines } = logLines();
  const rig = await startRig({ logger });
  const request = { ...rig.signed(), body } as DeliveryRequest;
  expect(codeOf(await rig.receiver.handle(request))).toBe("500 body_unavailable");
  const errors = lines.filter((line) => line.includes('"level":50'));
  expect(errors).toHaveLength(1);
  return errors[0]!;
}

test.for<[string, object, RegExp]>([
  ["NestJS", { app: {} }, /\{ rawBody: true \}/],
  ["a pages route of Next.js", { previewData: false }, /api: \{ bodyParser: false \}/],
  ["node:http and Fastify", {}, /request\.rawBody.*fastifyPlugin\(receiver\)/],
])("the log names the way out of %s", async ([, marks, advice]) => {
  // A request whose body was read, with the marks of a platform.
  const stream = new PassThrough().end("{}");
  await once(stream.resume(), "end");
  expect(await adviceFor(Object.assign(stream, marks))).toMatch(advice);
});

test("the log names the way out of a Request that was used, and of a call without bytes", async () => {
  const request = new Request("http://localhost/", { method: "POST", body: "{}" });
  await request.text();
  let advice = "";
  const handle = async ({ body }: DeliveryRequest) => {
    advice = await adviceFor(body);
    return null;
  };
  await fetchHandler({ handle } as never)(request);
  expect(advice).toContain("request.clone()");
  for (const body of [undefined, null, { parsed: true }])
    expect(await adviceFor(body)).toContain("isBase64Encoded");
});
