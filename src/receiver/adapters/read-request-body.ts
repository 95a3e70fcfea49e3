import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { createBodyBuffer, type BodyBuffer } from "../body-buffer.js";
import { capturedRawBody } from "./capture-raw-body.js";
import type { BodyLimits, BodyReading, ReadBody } from "../delivery.js";

/** How the receiver reads the body of a request of `node:http`, and so of Express. */
export function readRequestBody(request: IncomingMessage, headers: IncomingHttpHeaders): ReadBody {
  return (limits) => {
    const captured = capturedRawBody(request);
    if (captured === undefined && request.readable && !request.readableDidRead) {
      return readStream(request, headers["content-length"], limits);
    }
    if (request.readableAborted) return Promise.resolve({ ok: false, reason: "client_gone" });
    // Somebody else took bytes out of the stream: what they did not keep cannot be had back.
    if (captured === undefined) return Promise.resolve({ ok: false, reason: "body_unavailable" });
    const tooLarge = captured.byteLength > limits.maxBytes;
    return Promise.resolve(tooLarge ? { ok: false, reason: "body_too_large" } : { ok: true, bytes: captured });
  };
}

function readStream(request: IncomingMessage, header: string | undefined, limits: BodyLimits): Promise<BodyReading> {
  const { maxBytes, startTimeout, keep, hold } = limits;
  const announced = header === undefined ? null : Number(header);
  if (announced !== null && announced > maxBytes) return Promise.resolve({ ok: false, reason: "body_too_large" });

  return new Promise((resolve) => {
    let body: Uint8Array | null = null;
    let pieces: BodyBuffer | null = null;
    let received = 0;
    let isOver = false;

    const end = (reading: BodyReading): void => {
      isOver = true;
      timeout.cancel();
      // The listeners live as long as the request, and the bytes must not.
      body = null;
      pieces = null;
      resolve(reading);
    };
    const fail = (reason: (BodyReading & { ok: false })["reason"]): void => {
      if (isOver) return;
      request.off("data", onData);
      end({ ok: false, reason });
    };
    const giveWay = (): void => fail("overloaded");
    const onData = (chunk: Buffer | string): void => {
      // Somebody had it decoded: other bytes may have become the same text.
      if (typeof chunk === "string") return fail("body_unavailable");
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
    // Not with its last byte, though its length is known: an answer that goes out before the end of the request has been
    // seen is out of order for the host.
    const onEnd = (): void => {
      if (isOver) return;
      if (announced !== null && received !== announced) fail("body_unavailable");
      else end({ ok: true, bytes: body ?? pieces?.take() ?? NO_BYTES });
    };
    const onClose = (): void => fail("client_gone");

    const timeout = startTimeout(() => fail("body_timeout"));
    request.on("data", onData);
    request.on("end", onEnd);
    // Whatever goes wrong, a request closes. `once` would cost every delivery.
    request.on("close", onClose);
  });
}

const NO_BYTES = new Uint8Array();
