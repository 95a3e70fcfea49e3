import type { IncomingMessage } from "node:http";
import getRawBody from "raw-body";
import { capturedRawBody } from "./capture-raw-body.js";
import type { BodyLimits, BodyReading, ReadBody } from "./delivery.js";

/** How the receiver reads the body of a request of `node:http`, and so of Express. */
export function readRequestBody(request: IncomingMessage): ReadBody {
  return (limits) => {
    if (request.readableAborted) return Promise.resolve({ ok: false, reason: "client_gone" });
    const captured = capturedRawBody(request);
    if (captured !== undefined) {
      const tooLarge = captured.byteLength > limits.maxBytes;
      return Promise.resolve(tooLarge ? { ok: false, reason: "body_too_large" } : { ok: true, bytes: captured });
    }
    if (wasConsumed(request)) return Promise.resolve({ ok: false, reason: "body_unavailable" });
    return withinTime(limits, limits.keep ? readAll(request, limits) : countAll(request, limits));
  };
}

/** Somebody else took bytes out of the stream, or changed them into text: they cannot be had back. */
function wasConsumed(request: IncomingMessage): boolean {
  return request.readableDidRead || request.readableEnded || request.readableEncoding !== null;
}

async function readAll(request: IncomingMessage, { maxBytes }: BodyLimits): Promise<BodyReading> {
  const length = request.headers["content-length"];
  try {
    return { ok: true, bytes: await getRawBody(request, { limit: maxBytes, ...(length !== undefined && { length }) }) };
  } catch (error) {
    const type = error instanceof Error && "type" in error ? error.type : undefined;
    if (type === "entity.too.large") return { ok: false, reason: "body_too_large" };
    return { ok: false, reason: request.readableAborted ? "client_gone" : "body_unavailable" };
  }
}

/** Like {@link readAll}, for a body that nobody will look at: a flood of them costs no memory. */
function countAll(request: IncomingMessage, { maxBytes }: BodyLimits): Promise<BodyReading> {
  return new Promise((resolve) => {
    let received = 0;
    const end = (reading: BodyReading): void => {
      request.off("data", onData);
      resolve(reading);
    };
    const onData = (chunk: Buffer): void => {
      received += chunk.byteLength;
      if (received > maxBytes) end({ ok: false, reason: "body_too_large" });
    };
    if (Number(request.headers["content-length"]) > maxBytes) return end({ ok: false, reason: "body_too_large" });
    request.on("data", onData);
    request.once("end", () => end({ ok: true, bytes: NO_BYTES }));
    request.once("error", () => end({ ok: false, reason: "client_gone" }));
    request.once("close", () => end({ ok: false, reason: "client_gone" }));
  });
}

const NO_BYTES = new Uint8Array();

function withinTime({ clock, timeoutMs }: BodyLimits, reading: Promise<BodyReading>): Promise<BodyReading> {
  return new Promise((resolve) => {
    const timer = clock.setTimeout(() => resolve({ ok: false, reason: "body_timeout" }), timeoutMs);
    void reading.then((result) => {
      timer.cancel();
      resolve(result);
    });
  });
}
