import type { IncomingMessage, ServerResponse } from "node:http";
import { SignalboxError } from "../../base/errors.js";
import { createLogThrottle } from "../../kit/receiver/receiver-log.js";
import { partsOf } from "../../kit/receiver/receiver-parts.js";
import type { Receiver } from "../../kit/receiver/receiver.js";
import type { Authorize } from "./guard.js";
import { createPageHandler } from "./page-handler.js";
import { joinInboxes } from "./page-inbox.js";

export type { Authorize } from "./guard.js";

/** The options of {@link inboxPage}. */
export interface InboxPageOptions<Request extends IncomingMessage = IncomingMessage> {
  /**
   * Decides for every request whether its sender may see and change the inbox. `"loopback"` allows
   * browsers on the same machine only.
   */
  authorize: Authorize<Request> | "loopback";
}

/** Fits `express.RequestHandler` of Express 4 and 5, and the listener of `node:http`. */
export type InboxPageHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  next?: (error?: unknown) => void,
) => void;

/**
 * A page that shows the inbox of a receiver, or of several with different endpoints, and replays
 * and discards its events. It answers every request on its mount and never calls `next`.
 *
 * @throws SignalboxError `option_invalid`
 * @example
 * app.use("/ops/signals", inboxPage(receiver, { authorize: (request: express.Request) => request.session.isOperator === true }));
 */
export function inboxPage<Request extends IncomingMessage = IncomingMessage>(
  receiver: Receiver | readonly Receiver[],
  options: InboxPageOptions<Request>,
): InboxPageHandler {
  const receivers = Array.isArray(receiver)
    ? (receiver as readonly Receiver[])
    : [receiver as Receiver];
  const parts = receivers.map((each) => partsOf(each));
  const [first] = parts;
  if (first === undefined || !parts.every((each) => each !== undefined)) {
    throw new SignalboxError(
      "option_invalid",
      "inboxPage needs the receiver that createReceiver returns.",
      "",
    );
  }
  const { clock, log } = first;
  const throttle = createLogThrottle(clock);
  const closings = parts.map(({ closing }) => closing);
  return createPageHandler({
    inbox: joinInboxes(parts.map(({ inbox }) => inbox)),
    authorize: (options as Partial<InboxPageOptions> | undefined)?.authorize as Authorize,
    clock,
    closing: closings.length === 1 ? first.closing : AbortSignal.any(closings),
    report(error, text) {
      const suppressed = throttle(text);
      if (suppressed === null) return;
      if (error === null) log.warn({ suppressed }, text);
      else log.problem("error", { suppressed }, error, text);
    },
    onChange(listener) {
      const stops = receivers.flatMap((each) => CHANGES.map((name) => each.on(name, listener)));
      return () => stops.forEach((stop) => stop());
    },
  });
}

/** The events of a receiver that change an event of its inbox. */
const CHANGES = ["accepted", "quarantined", "handedOff", "handoffFailed", "dead"] as const;
