import { gzipSync } from "node:zlib";
import type { RequestHandler } from "express";
import { expect, test } from "vitest";
import { captureRawBody } from "../../../src/kit/index.js";
import { expressHandler } from "../../../src/kit/receiver/adapters/express-handler.js";
import { signalEvent } from "../../../src/kit/testing/index.js";
import { expectAcknowledged, expectRefused, RECEIVED } from "../expect-answer.js";
import { logLines } from "../log-lines.js";
import { delivery, EXPRESSES, listen, startReceiver } from "../serve.js";
import { exchange, MOUNT, openWire, rawRequest } from "../wire.js";

type Framework = (typeof EXPRESSES)[number]["express"];

/** A receiver on whose mount something else reads first. */
async function behind(framework: Framework, ...first: RequestHandler[]) {
  const { logger, lines } = logLines();
  const receiver = await startReceiver({ logger, bodyLimitBytes: 10_000 });
  const app = framework();
  for (const handler of first) app.use(handler);
  app.use(MOUNT, expressHandler(receiver));
  return { receiver, lines, port: await listen(app) };
}

const CONSUMERS: Readonly<Record<string, (framework: Framework) => RequestHandler>> = {
  "express.json()": (framework) => framework.json(),
  "express.text()": (framework) => framework.text({ type: "*/*" }),
  // And goes on with the rest still to come.
  "a listener that takes the first portion": () => (request, _response, next) => {
    request.once("data", () => {
      request.pause();
      next();
    });
  },
  "setEncoding()": () => (request, _response, next) => {
    request.setEncoding("utf8");
    next();
  },
};

const CONSUMED = EXPRESSES.flatMap((each) =>
  Object.entries(CONSUMERS).map(([what, first]) => ({ ...each, what, first })),
);

test.for(CONSUMED)(
  "a body that $what took gets 500 and a log line with the mend, over $name",
  async ({ express, first }) => {
    const { receiver, lines, port } = await behind(express, first(express));
    const wire = await openWire(port);
    for (let time = 0; time < 3; time++) {
      await wire.write(rawRequest(delivery()));
      expectRefused(await wire.next(), 500, "body_unavailable");
    }
    const errors = lines.filter((line) => line.includes('"level":50'));
    expect(errors).toHaveLength(1);
    expect(errors[0]).toContain("express.json({ verify: captureRawBody })");
    expect(errors[0]).toContain("mount expressHandler(receiver) before express.json()");
    expect(await receiver.inbox.stats()).toMatchObject({ total: 0 });
  },
);

test.for(EXPRESSES)(
  "captureRawBody and express.raw() keep the bytes as they came, over $name",
  async ({ express }) => {
    for (const parser of [express.json({ verify: captureRawBody }), express.raw({ type: "*/*" })]) {
      const { receiver, port } = await behind(express, parser);
      const event = signalEvent({ data: { title: "Zürich" } });
      const { headers, body } = delivery(JSON.stringify(event, null, 3).replace("ü", "\\u00fc"));
      // What a parser inflated was not signed.
      const zipped = { headers: { ...headers, "Content-Encoding": "gzip" }, body: gzipSync(body) };
      expectRefused(await exchange(port, zipped), 415, "encoding_unsupported");
      const changed = { headers, body: `${String(body.subarray(0, -1))} }` };
      expectRefused(await exchange(port, changed), 401, "signature_mismatch");
      expectRefused(await exchange(port, { body }), 401, "signature_missing");
      expect(await receiver.inbox.stats()).toMatchObject({ total: 0 });
      expectAcknowledged(await exchange(port, { headers, body }), RECEIVED);
      const { rawBody } = (await receiver.inbox.get(event.id)) ?? {};
      expect(Buffer.from(rawBody ?? [])).toEqual(body);
    }
  },
);

test.for(EXPRESSES)(
  "parsers that leave the body alone, and a listener that only looks on, do no harm, over $name",
  async ({ express }) => {
    let seenBytes = 0;
    const look: RequestHandler = (request, _response, next) => {
      request.on("data", (chunk: Buffer) => (seenBytes += chunk.byteLength));
      next();
    };
    const others = [express.urlencoded({ extended: false }), express.text(), express.raw()];
    const { port } = await behind(express, ...others, look);
    const { headers, body } = delivery();
    expectAcknowledged(await exchange(port, { headers, body }), RECEIVED);
    expect(seenBytes).toBe(body.byteLength);
  },
);
