import type { IncomingMessage, ServerResponse } from "node:http";
import type { Receiver } from "../receiver.js";
import { listenerOf } from "./listener.js";

export { assertReceiver } from "./listener.js";

/**
 * Makes a listener for `node:http` that answers every request exactly once and never throws.
 *
 * @throws SignalboxError `option_invalid`
 * @example
 * http.createServer(nodeHandler(receiver)).listen(3000);
 */
export function nodeHandler(
  receiver: Receiver,
): (request: IncomingMessage, response: ServerResponse) => void {
  return listenerOf(receiver, "nodeHandler");
}
