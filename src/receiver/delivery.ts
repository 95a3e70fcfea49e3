import { randomUUID } from "node:crypto";
import type { ClockTimer } from "../time/clock.js";
import { REJECTIONS, type RejectionCode } from "./rejection.js";

/** One delivery, from any framework. */
export interface DeliveryRequest {
  method: string;
  /** Fetch's `Headers`, or an object. Names can be in any case. The value of a header that was sent twice can be an array. */
  headers: Readonly<Record<string, string | readonly string[] | undefined>> | HeadersLike;
  /** The bytes as received, or a function that reads them. */
  body: Uint8Array | ReadBody;
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

/**
 * Reads a request's body once, within these limits. It must not reject. The bytes are stored without a copy, so nothing may
 * change them afterwards.
 */
export type ReadBody = (limits: BodyLimits) => Promise<BodyReading>;

/** The limits of a {@link ReadBody}. */
export interface BodyLimits {
  /** The length of the largest body, in bytes as received. For a larger body return `body_too_large`. */
  maxBytes: number;
  /** Calls back after `bodyTimeoutMs`, by the receiver's clock, unless the timer is cancelled. */
  startTimeout(onTimeout: () => void): ClockTimer;
  /** False when the delivery will be refused anyway. In that case count the bytes, but do not keep them. */
  keep: boolean;
  /**
   * Call this before you keep a piece of the body. All bodies in memory share one limit of bytes. When it is reached, the
   * body that has been arriving longest is evicted.
   *
   * @param pieceBytes length of the piece
   * @param evict called when this body is evicted later: drop all its pieces and return `overloaded`
   * @returns false when there is no room: drop all pieces and return `overloaded`
   */
  holdPiece(pieceBytes: number, evict: () => void): boolean;
}

/** The bytes of a body, or why they could not be read. */
export type BodyReading =
  | { ok: true; bytes: Uint8Array }
  | {
      ok: false;
      /** `client_gone`: the connection is closed, so no answer is sent. */
      reason: "body_timeout" | "body_too_large" | "body_unavailable" | "overloaded" | "client_gone";
    };

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
