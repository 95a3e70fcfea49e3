import type { IncomingMessage, ServerResponse } from "node:http";

const RAW_BODY = Symbol.for("signalbox.rawBody");

/**
 * Keeps the bytes of a body for the receiver when another parser must read it first.
 *
 * @example
 * app.use(express.json({ verify: captureRawBody }));
 */
export function captureRawBody(request: IncomingMessage, _response: ServerResponse, body: Buffer): void {
  Object.defineProperty(request, RAW_BODY, { value: body, configurable: true });
}

/** The bytes that {@link captureRawBody} or `express.raw()` kept. */
export function capturedRawBody(request: IncomingMessage): Uint8Array | undefined {
  const { [RAW_BODY]: captured, body } = request as { [RAW_BODY]?: Uint8Array; body?: unknown };
  if (captured !== undefined) return captured;
  return ArrayBuffer.isView(body) ? new Uint8Array(body.buffer, body.byteOffset, body.byteLength) : undefined;
}
