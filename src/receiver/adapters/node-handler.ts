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
  // Express changes the prototypes of both objects. After that V8 reads their properties slowly, so few are read here.
  return (request, response) => {
    if (isClosing(request)) return;
    const { method = "", headers } = request;
    // A hook of the host on the response may throw. Then no answer can be sent, and the sender tries again.
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

/** Node has the names in lower case and joins what was sent twice, so each header is found without a search. */
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
