import type { IncomingMessage, ServerResponse } from "node:http";
import type { Receiver } from "../receiver.js";
import { listenerOf } from "./listener.js";

/** Fits `express.RequestHandler` of Express 4 and 5, without needing the types of either. */
export type ExpressHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void;

/**
 * Mounts a receiver in an Express app (4.18 or later, or 5). It answers every request on its mount
 * and never calls `next`.
 *
 * Mount it before `express.json()`. If you cannot, let the parser keep the bytes with
 * `captureRawBody` of `signalbox`.
 *
 * @throws SignalboxError `option_invalid`
 * @example
 * app.use("/webhooks/signals", expressHandler(receiver));
 * app.use(express.json());
 */
export function expressHandler(receiver: Receiver): ExpressHandler {
  return listenerOf(receiver, "expressHandler");
}
