import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import getRawBody from "raw-body";
import type { BodyLimits, BodyReading, ReadBody } from "../delivery.js";
import { capturedRawBody } from "./capture-raw-body.js";

/** How the receiver reads the body of a request of `node:http`, and so of Express. */
export function readRequestBody(request: IncomingMessage, headers: IncomingHttpHeaders): ReadBody {
  return async (limits) => {
    const captured = capturedRawBody(request);
    if (captured === undefined && request.readable && !request.readableDidRead) {
      return readStream(request, headers["content-length"], limits);
    }
    if (request.readableAborted) return { ok: false, reason: "client_gone" };
    // Another parser took bytes out of the stream and did not keep them.
    if (captured === undefined) return { ok: false, reason: "body_unavailable" };
    if (captured.byteLength > limits.maxBytes) return { ok: false, reason: "body_too_large" };
    return { ok: true, bytes: captured };
  };
}

function readStream(request: IncomingMessage, header: string | undefined, limits: BodyLimits): Promise<BodyReading> {
  const { maxBytes, startTimeout, keep, holdPiece } = limits;
  const announced = header === undefined ? null : Number(header);
  if (announced !== null && announced > maxBytes) return Promise.resolve({ ok: false, reason: "body_too_large" });

  return new Promise((resolve) => {
    // raw-body has no way to stop before the end of its stream. So it reads a stream of ours, which gets only the pieces
    // that are within the limits. When that is destroyed raw-body drops the pieces, and its promise stays pending.
    const pieces = new Readable({ read: ignore });
    let received = 0;
    let isOver = false;

    const end = (): void => {
      isOver = true;
      timeout.cancel();
    };
    const fail = (reason: (BodyReading & { ok: false })["reason"]): void => {
      if (isOver) return;
      end();
      request.off("data", onData);
      pieces.destroy();
      resolve({ ok: false, reason });
    };
    const evict = (): void => fail("overloaded");
    const onData = (piece: Buffer | string): void => {
      // The host called `setEncoding`: different bytes may have become the same text.
      if (typeof piece === "string") return fail("body_unavailable");
      received += piece.byteLength;
      if (received > maxBytes) return fail("body_too_large");
      if (!keep) return;
      // A body in one piece, the common case, is complete before another body could need its room.
      if (piece.byteLength !== announced && !holdPiece(piece.byteLength, evict)) return evict();
      pieces.push(piece);
    };
    const onEnd = (): void => {
      if (isOver) return;
      if (announced !== null && received !== announced) return fail("body_unavailable");
      end();
      pieces.push(null);
    };

    const timeout = startTimeout(() => fail("body_timeout"));
    getRawBody(pieces).then(
      (bytes) => resolve({ ok: true, bytes }),
      () => fail("body_unavailable"),
    );
    request.on("data", onData);
    // The answer waits for the end of the request, though the last byte is known by the length: a host expects no answer
    // before it.
    request.on("end", onEnd);
    // Every failure of a request ends in `close`. `on`, since `once` costs more for each delivery.
    request.on("close", () => fail("client_gone"));
  });
}

function ignore(): void {}
