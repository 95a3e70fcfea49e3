import type { IncomingMessage, ServerResponse } from "node:http";
import type { HeadersLike } from "./delivery.js";
import { readRequestBody } from "./read-request-body.js";
import type { Receiver } from "./receiver.js";
import { isClosing, sendResponse } from "./send-response.js";

/**
 * A listener for `node:http` that gives every request to the receiver. Answers exactly once, and never throws.
 *
 * @example
 * http.createServer(nodeHandler(receiver)).listen(3000);
 */
export function nodeHandler(receiver: Receiver): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    const { method = "" } = request;
    const headers = headersOf(request);
    // A client that resets the connection is no error of the host's.
    request.on("error", ignore);
    response.on("error", ignore);
    if (isClosing(request)) return;
    receiver
      .handle({ method, headers, body: readRequestBody(request) })
      .then((answer) => answer !== null && sendResponse(request, response, answer))
      // Somebody's hook on the response threw. There is no answer to be had; the sender tries again.
      .catch(() => response.destroy());
  };
}

/** Node has the names in lower case and joins what was sent twice: so nobody has to search for them. */
function headersOf({ headers }: IncomingMessage): HeadersLike {
  return {
    get(name) {
      const value = headers[name];
      return Array.isArray(value) ? value.join(", ") : (value ?? null);
    },
  };
}

function ignore(): void {}
