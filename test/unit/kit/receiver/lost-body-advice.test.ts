import { once } from "node:events";
import { PassThrough } from "node:stream";
import { pino } from "pino";
import { expect, test } from "vitest";
import type { DeliveryRequest } from "../../../../src/kit/index.js";
import { fetchHandler } from "../../../../src/kit/receiver/adapters/fetch-handler.js";
import { codeOf, startRig } from "../inbox/receiver-rig.js";

/** Gives the receiver this body, which cannot be had, and returns what the log says. */
async function adviceFor(body: unknown): Promise<string> {
  const lines: string[] = [];
  const rig = await startRig({
    logger: pino({ level: "error" }, { write: (line: string) => void lines.push(line) }),
  });
  const request = { ...rig.signed(), body } as DeliveryRequest;
  expect(codeOf(await rig.receiver.handle(request))).toBe("500 body_unavailable");
  expect(lines).toHaveLength(1);
  return lines[0]!;
}

/** A request whose body was read, with the marks of a platform. */
async function readStream(marks: object): Promise<PassThrough> {
  const stream = new PassThrough().end("{}");
  await once(stream.resume(), "end");
  return Object.assign(stream, marks);
}

test.for<[string, object, RegExp]>([
  ["Express and NestJS", { app: {} }, /before express\.json\(\).*\{ rawBody: true \}/],
  ["a pages route of Next.js", { previewData: false }, /api: \{ bodyParser: false \}/],
  ["node:http and Fastify", {}, /request\.rawBody.*fastifyPlugin\(receiver\)/],
])("the log names the way out of %s", async ([, marks, advice]) => {
  expect(await adviceFor(await readStream(marks))).toMatch(advice);
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
