import type { IncomingMessage, ServerResponse } from "node:http";
import { nodeHandler } from "./node-handler.js";
import type { Receiver } from "../receiver.js";

/**
 * Fits `express.RequestHandler` of Express 4 and 5. It uses the types of neither, so that neither has to be installed.
 */
export type ExpressHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void;

/**
 * Mounts a receiver in an Express app (4.18 or later, or 5). Every request on the mount is answered here and `next` is
 * never called; requests elsewhere are not touched.
 *
 * Mount it before `express.json()`. Where you cannot, let the parser keep the bytes with `captureRawBody` of `signalbox`.
 *
 * @example
 * app.use("/webhooks/signals", expressHandler(receiver));
 * app.use(express.json());
 */
export function expressHandler(receiver: Receiver): ExpressHandler {
  return nodeHandler(receiver);
}
