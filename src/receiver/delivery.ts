import { randomUUID } from "node:crypto";
import { REJECTIONS, type RejectionCode } from "./rejection.js";

/** One delivery, from any framework. */
export interface DeliveryRequest {
  method: string;
  /** Fetch's `Headers`, or an object. Names can be in any case. The value of a header that was sent twice can be an array. */
  headers: Readonly<Record<string, string | readonly string[] | undefined>> | HeadersLike;
  /**
   * The bytes as received: all at once, or in chunks, which are collected within the limits of the receiver. Every iterable
   * does, such as a request of `node:http`. It can use one buffer for all its chunks, unless it is a stream of Node. If the
   * chunks end with an error, the client has gone. When the receiver needs no more of them, it calls the iterator's `return`
   * and does not wait for it.
   */
  body: Uint8Array | AsyncIterable<Uint8Array>;
  /** Aborted when the client has gone. After the last chunk of the body it has no effect. */
  signal?: AbortSignal | undefined;
}

/** The part of Fetch's `Headers` that the receiver uses. */
export interface HeadersLike {
  /** Returns the value of a header. Its name can be in any case. */
  get(name: string): string | null;
}

/**
 * Finds a header whose name is in any case. If it was sent twice, its values are joined, so that neither is used alone.
 *
 * @param name in lower case
 */
export function headerValue(headers: DeliveryRequest["headers"], name: string): string | undefined {
  if (isHeaders(headers)) return headers.get(name) ?? undefined;
  let found: string | undefined;
  for (const key in headers) {
    // The length is compared first, for speed: this runs for every header of every delivery.
    if (key.length !== name.length || key.toLowerCase() !== name) continue;
    const value = headers[key];
    if (value === undefined) continue;
    const text = typeof value === "string" ? value : value.join(", ");
    found = found === undefined ? text : `${found}, ${text}`;
  }
  return found;
}

function isHeaders(headers: DeliveryRequest["headers"]): headers is HeadersLike {
  return typeof headers["get"] === "function";
}

/** The complete answer: its headers include a byte-exact `Content-Length`. */
export interface DeliveryResponse {
  status: number;
  headers: Record<string, string>;
  /** JSON. */
  body: string;
}

export function acknowledge(body: Readonly<Record<string, unknown>>): DeliveryResponse {
  return respond(200, JSON.stringify(body));
}

/** The most frequent answer, so its text is made only once. */
const RECEIVED = JSON.stringify({ received: true });

export function acknowledgeNew(): DeliveryResponse {
  return respond(200, RECEIVED);
}

/** Makes a refusal in the service's error envelope (service document, Error envelope). */
export function reject(code: RejectionCode): DeliveryResponse & { requestId: string } {
  const { status, message, headers } = REJECTIONS[code];
  const requestId = `req_${randomUUID()}`;
  const body = JSON.stringify({ error: { code, message }, request_id: requestId });
  return { ...respond(status, body, headers), requestId };
}

function respond(status: number, body: string, extra?: Readonly<Record<string, string>>): DeliveryResponse {
  const headers: Record<string, string> = {
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": String(Buffer.byteLength(body)),
    "X-Content-Type-Options": "nosniff",
  };
  if (extra !== undefined) Object.assign(headers, extra);
  return { status, headers, body };
}
