import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { SignalboxError } from "../../../base/errors.js";
import type { HeadersLike } from "../../senders/engine/headers.js";
import type { Receiver } from "../receiver.js";
import { capturedRawBody } from "./capture-raw-body.js";
import { isClosing, sendResponse } from "./send-response.js";

export type NodeListener = (request: IncomingMessage, response: ServerResponse) => void;

/** @param caller the function that a user called */
export function listenerOf(receiver: Receiver, caller: string): NodeListener {
  assertReceiver(receiver, caller);
  // Express changes the prototypes of request and response, so V8 reads their properties slowly. So
  // few are read here.
  return (request, response) => {
    if (isClosing(request)) return;
    const { method = "", headers } = request;
    // Express cuts the mount's path off `url`.
    const url = (request as { originalUrl?: string }).originalUrl ?? request.url;
    // If the application's hooks on the response throw, no answer can be sent: the connection is
    // closed and the sender retries.
    const giveUp = (): void => void response.destroy();
    const body = capturedRawBody(request) ?? request;
    const remoteAddress = (): string | undefined => addressOf(request);
    receiver
      .handle({ method, url, headers: new NodeHeaders(headers), body, remoteAddress })
      .then((answer) => {
        try {
          if (answer !== null) sendResponse(request, response, answer);
        } catch {
          giveUp();
        }
      }, giveUp);
  };
}

/** Express knows the address before its trusted proxies. */
function addressOf(request: IncomingMessage & { ip?: unknown }): string | undefined {
  return typeof request.ip === "string" ? request.ip : request.socket.remoteAddress;
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
