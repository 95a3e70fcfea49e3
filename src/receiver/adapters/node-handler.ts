import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { HeadersLike } from "../delivery.js";
import { readRequestBody } from "./read-request-body.js";
import type { Receiver } from "../receiver.js";
import { isClosing, sendResponse } from "./send-response.js";

/**
 * A listener for `node:http` that gives every request to the receiver. Answers exactly once, and never throws.
 *
 * @example
 * http.createServer(nodeHandler(receiver)).listen(3000);
 */
export function nodeHandler(receiver: Receiver): (request: IncomingMessage, response: ServerResponse) => void {
  // Express changes the prototypes of both, after which V8 looks each of their properties up anew: so few are read here.
  return (request, response) => {
    if (isClosing(request)) return;
    const { method = "", headers } = request;
    // When somebody's hook on the response throws there is no answer to be had; the sender tries again.
    const giveUp = (): void => void response.destroy();
    receiver
      .handle({ method, headers: new NodeHeaders(headers), body: readRequestBody(request, headers) })
      .then((answer) => {
        try {
          if (answer !== null) sendResponse(request, response, answer);
        } catch {
          giveUp();
        }
      }, giveUp);
  };
}

/** Node has the names in lower case and joins what was sent twice: so nobody has to search for them. */
class NodeHeaders implements HeadersLike {
  readonly #headers: IncomingHttpHeaders;

  constructor(headers: IncomingHttpHeaders) {
    this.#headers = headers;
  }

  get(name: string): string | null {
    const value = this.#headers[name];
    return Array.isArray(value) ? value.join(", ") : (value ?? null);
  }
}
