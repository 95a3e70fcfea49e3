import { randomUUID } from "node:crypto";
import type { RequestHeaders } from "../senders/engine/headers.js";
import type { HandshakeAnswer } from "../senders/engine/sender.js";
import { REJECTIONS, type RejectionCode } from "./rejection.js";

/** One delivery, from any framework. */
export interface DeliveryRequest {
  method: string;
  /**
   * The address, or its path and query. Only a sender that answers a GET or signs its address needs
   * the query.
   */
  url?: string | undefined;
  headers: RequestHeaders;
  /**
   * The bytes as received: all at once (a text stands for its UTF-8), or in chunks, which are
   * collected within the limits of the receiver. Every iterable does, such as a request of
   * `node:http`. It can use one buffer for all its chunks, unless it is a stream of Node. If the
   * chunks end with an error, the client has gone. When the receiver needs no more of them, it
   * calls the iterator's `return` and does not wait for it.
   */
  body: Uint8Array | string | AsyncIterable<Uint8Array>;
  /**
   * Where the delivery comes from, for the list of refused ones. Called only for one that is
   * refused.
   */
  remoteAddress?: (() => string | undefined) | undefined;
  /** Aborted when the client has gone. After the last chunk of the body it has no effect. */
  signal?: AbortSignal | undefined;
}

/** The complete answer: its headers include a byte-exact `Content-Length`. */
export interface DeliveryResponse {
  status: number;
  headers: Record<string, string>;
  /** JSON, unless the sender wants another form. */
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

/**
 * Answers a handshake, or in place of {@link acknowledgeNew}. A text is no HTML, whatever it
 * contains.
 */
export function answerWith(answer: HandshakeAnswer): DeliveryResponse {
  if ("json" in answer) return respond(200, JSON.stringify(answer.json), answer.headers);
  const { text = "", contentType = "text/plain; charset=utf-8", headers } = answer;
  return respond(200, text, { ...headers, "Content-Type": contentType });
}

/** Makes a refusal in the service's error envelope (service document, Error envelope). */
export function reject(
  code: RejectionCode,
  otherMessage?: string,
): DeliveryResponse & { requestId: string } {
  const { status, message: usual, headers } = REJECTIONS[code];
  const message = otherMessage ?? usual;
  const requestId = `req_${randomUUID()}`;
  const body = JSON.stringify({ error: { code, message }, request_id: requestId });
  return { ...respond(status, body, headers), requestId };
}

function respond(
  status: number,
  body: string,
  extra?: Readonly<Record<string, string>>,
): DeliveryResponse {
  const headers: Record<string, string> = {
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": String(Buffer.byteLength(body)),
    "X-Content-Type-Options": "nosniff",
  };
  if (extra !== undefined) Object.assign(headers, extra);
  return { status, headers, body };
}
