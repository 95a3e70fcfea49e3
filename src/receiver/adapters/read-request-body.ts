import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import getRawBody from "raw-body";
import type { BodyLimits, BodyReading, ReadBody } from "../delivery.js";
import { capturedRawBody } from "./capture-raw-body.js";

/** How the receiver reads the body of a request of `node:http`, and so of Express. */
export function readRequestBody(request: IncomingMessage, headers: IncomingHttpHeaders): ReadBody {
  return (limits) => {
    const captured = capturedRawBody(request);
    if (captured === undefined && request.readable && !request.readableDidRead) {
      return readStream(request, headers["content-length"], limits);
    }
    return Promise.resolve(readCaptured(request, captured, limits));
  };
}

function readCaptured(
  request: IncomingMessage,
  captured: Uint8Array | undefined,
  { maxBytes }: BodyLimits,
): BodyReading {
  if (request.readableAborted) return { ok: false, reason: "client_gone" };
  // Another parser took bytes out of the stream and did not keep them.
  if (captured === undefined) return { ok: false, reason: "body_unavailable" };
  return captured.byteLength > maxBytes ? { ok: false, reason: "body_too_large" } : { ok: true, bytes: captured };
}

function readStream(request: IncomingMessage, header: string | undefined, limits: BodyLimits): Promise<BodyReading> {
  const { maxBytes, startTimeout, keep, holdPiece } = limits;
  const announced = header === undefined ? null : Number(header);
  if (announced !== null && announced > maxBytes) return Promise.resolve({ ok: false, reason: "body_too_large" });

  return new Promise((resolve) => {
    // Most bodies arrive in one piece, and need no collecting: that would take 3 µs of some 75 for a delivery.
    let whole: Uint8Array | null = null;
    let pieces: Readable | null = null;
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
      pieces?.destroy();
      resolve({ ok: false, reason });
    };
    const evict = (): void => fail("overloaded");
    const onData = (piece: Buffer | string): void => {
      // The host called `setEncoding`: different bytes may have become the same text.
      if (typeof piece === "string") return fail("body_unavailable");
      received += piece.byteLength;
      if (received > maxBytes) return fail("body_too_large");
      if (!keep) return;
      if (piece.byteLength === announced) {
        whole = piece;
        return;
      }
      if (!holdPiece(piece.byteLength, evict)) return evict();
      if (pieces === null) {
        // raw-body cannot be stopped before the end of its stream. So it reads a stream of ours, which gets only pieces
        // within the limits. When that is destroyed, raw-body drops the pieces and its promise stays pending.
        pieces = new Readable({ read: ignore });
        void getRawBody(pieces).then((bytes) => resolve({ ok: true, bytes }));
      }
      pieces.push(piece);
    };
    const onEnd = (): void => {
      if (isOver) return;
      if (announced !== null && received !== announced) return fail("body_unavailable");
      end();
      if (pieces === null) resolve({ ok: true, bytes: whole ?? NO_BYTES });
      else pieces.push(null);
      // The listeners live as long as the request, and the bytes must not.
      whole = null;
    };

    const timeout = startTimeout(() => fail("body_timeout"));
    request.on("data", onData);
    // The answer waits for the end of the request, though the last byte is known by the length: a host expects no answer
    // before it.
    request.on("end", onEnd);
    // Every failure of a request ends in `close`. `on`, since `once` costs more for each delivery.
    request.on("close", () => fail("client_gone"));
  });
}

const NO_BYTES = new Uint8Array();

function ignore(): void {}
