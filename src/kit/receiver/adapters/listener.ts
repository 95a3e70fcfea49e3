import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { SignalboxError } from "../../../base/errors.js";
import type { HeadersLike } from "../../senders/engine/headers.js";
import type { DeliveryRequest } from "../delivery.js";
import type { Receiver } from "../receiver.js";
import { isClosing, sendResponse } from "./send-response.js";

export type NodeListener = (request: IncomingMessage, response: ServerResponse) => void;

/** @param caller the function that a user called */
export function listenerOf(receiver: Receiver, caller: string): NodeListener {
  assertReceiver(receiver, caller);
  return (request, response) => {
    if (isClosing(request)) return;
    // If the application's hooks on the response throw, no answer can be sent: the connection is
    // closed and the sender retries.
    const giveUp = (): void => void response.destroy();
    receiver.handle(new NodeDelivery(request)).then((answer) => {
      try {
        if (answer !== null) sendResponse(request, response, answer);
      } catch {
        giveUp();
      }
    }, giveUp);
  };
}

/**
 * Express changes the prototypes of request and response, so V8 reads their properties slowly. So
 * few are read for each delivery, and the others when they are asked for.
 */
class NodeDelivery implements DeliveryRequest {
  readonly method: string;
  readonly headers: HeadersLike;
  readonly body: IncomingMessage;

  constructor(request: IncomingMessage) {
    this.method = request.method ?? "";
    this.headers = new NodeHeaders(request.headers);
    this.body = request;
  }

  get url(): string | undefined {
    // Express cuts the mount's path off `url`.
    return (this.body as { originalUrl?: string }).originalUrl ?? this.body.url;
  }

  /** Express knows the address before its trusted proxies. */
  remoteAddress(): string | undefined {
    const { ip } = this.body as { ip?: unknown };
    return typeof ip === "string" ? ip : this.body.socket.remoteAddress;
  }
}

/**
 * Refuses values that are not a receiver: a caller without types may pass undefined, or a promise
 * of a receiver.
 */
export function assertReceiver(receiver: Partial<Receiver> | undefined, caller: string): void {
  if (typeof receiver?.handle === "function") return;
  throw new SignalboxError(
    "option_invalid",
    `${caller} needs the receiver that createReceiver returns.`,
    "",
  );
}

/**
 * Finds a header without a search, because Node has the names in lower case and joins a header that
 * was sent twice.
 */
class NodeHeaders implements HeadersLike {
  readonly #headers: IncomingHttpHeaders;

  constructor(headers: IncomingHttpHeaders) {
    this.#headers = headers;
  }

  keys(): string[] {
    return Object.keys(this.#headers);
  }

  get(name: string): string | null {
    const value = this.#headers[name];
    return Array.isArray(value) ? value.join(", ") : (value ?? null);
  }
}
