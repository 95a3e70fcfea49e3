import type { IncomingMessage, ServerResponse } from "node:http";

const RAW_BODY = Symbol.for("signalbox.rawBody");

/**
 * Keeps the bytes of a body for the receiver when another parser must read it first.
 *
 * @example
 * app.use(express.json({ verify: captureRawBody }));
 */
export function captureRawBody(
  request: IncomingMessage,
  _response: ServerResponse,
  body: Buffer,
): void {
  Object.defineProperty(request, RAW_BODY, { value: body, configurable: true });
}

/**
 * The bytes of a body that something else has read: kept by {@link captureRawBody}, by
 * `express.raw()`, or as `request.rawBody` by the platform (Cloud Functions, NestJS) or the app. A
 * `rawBody` that is a text is not used, because decoding may have changed it.
 */
export function capturedRawBody(request: IncomingMessage): Uint8Array | undefined {
  const {
    [RAW_BODY]: captured,
    body,
    rawBody,
  } = request as { [RAW_BODY]?: Uint8Array; body?: unknown; rawBody?: unknown };
  if (captured !== undefined) return captured;
  if (ArrayBuffer.isView(body)) return bytesOf(body);
  // While nothing has read the stream, it alone has the bytes that were received.
  const isRead = ArrayBuffer.isView(rawBody) && (request.readableDidRead || !request.readable);
  return isRead ? bytesOf(rawBody) : undefined;
}

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
