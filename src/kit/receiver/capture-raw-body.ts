import type { IncomingMessage, ServerResponse } from "node:http";

const RAW_BODY = Symbol.for("signalbox.rawBody");

interface Captured {
  readonly [RAW_BODY]?: Uint8Array;
  readonly body?: unknown;
  readonly rawBody?: unknown;
}

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
export function capturedRawBody(request: object): Uint8Array | undefined {
  const { [RAW_BODY]: captured, body, rawBody } = request as Captured;
  if (captured !== undefined) return captured;
  const bytes = ArrayBuffer.isView(body) ? body : rawBody;
  if (!ArrayBuffer.isView(bytes)) return undefined;
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
