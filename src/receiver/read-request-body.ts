import type { IncomingMessage } from "node:http";
import { createBodyBuffer, type BodyBuffer } from "./body-buffer.js";
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
    return readStream(request, limits);
  };
}

/** Somebody else took bytes out of the stream, or changed them into text: they cannot be had back. */
function wasConsumed(request: IncomingMessage): boolean {
  return request.readableDidRead || request.readableEnded || request.readableEncoding !== null;
}

function readStream(request: IncomingMessage, limits: BodyLimits): Promise<BodyReading> {
  const { maxBytes, startTimeout, keep, hold } = limits;
  const header = request.headers["content-length"];
  const announced = header === undefined ? null : Number(header);
  if (announced !== null && announced > maxBytes) return Promise.resolve({ ok: false, reason: "body_too_large" });

  return new Promise((resolve) => {
    let body: Uint8Array | null = null;
    let pieces: BodyBuffer | null = null;
    let received = 0;

    const end = (reading: BodyReading): void => {
      timeout.cancel();
      // The listeners live as long as the request, and the bytes must not.
      body = null;
      pieces = null;
      resolve(reading);
    };
    const fail = (reason: (BodyReading & { ok: false })["reason"]): void => {
      request.off("data", onData);
      end({ ok: false, reason });
    };
    const giveWay = (): void => fail("overloaded");
    const onData = (chunk: Buffer): void => {
      received += chunk.byteLength;
      if (received > maxBytes) return fail("body_too_large");
      // A body that nobody will look at is counted and not kept: a flood of them costs no memory.
      if (!keep) return;
      // One that is whole at once, the common one, is on its way before anybody else could want its room.
      if (chunk.byteLength === announced) {
        body = chunk;
        return;
      }
      pieces ??= createBodyBuffer(announced ?? maxBytes);
      if (received !== announced && !hold(pieces.capacityWith(chunk), giveWay)) return giveWay();
      pieces.append(chunk);
    };
    const onEnd = (): void => {
      if (announced !== null && received !== announced) fail("body_unavailable");
      else end({ ok: true, bytes: body ?? pieces?.take() ?? NO_BYTES });
    };
    const onGone = (): void => fail("client_gone");

    const timeout = startTimeout(() => fail("body_timeout"));
    request.on("data", onData);
    // Whatever goes wrong, a request closes. To be told twice does no harm, and `once` costs every delivery.
    request.on("end", onEnd);
    request.on("close", onGone);
  });
}

const NO_BYTES = new Uint8Array();
