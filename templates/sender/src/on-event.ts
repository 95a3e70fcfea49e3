import type { Handoff } from "signalbox";
// if namedType
import type { __eventType__ } from "signalbox/senders";
// end namedType

/**
 * Does the work for an event: replace it with the work of your system. When it resolves, the event
 * is done. When it rejects, it is called again, later each time; `PermanentFailure` and
 * `RetryLater` of signalbox change that.
 *
 * After a crash an event can come again, with the same `handoff.deliveryKey`. Store that key with
 * the effect, or give it to the other system as its idempotency key.
 */
export async function onEvent(
  _event: __eventType__,
  handoff: Pick<Handoff, "deliveryKey" | "logger">,
): Promise<void> {
  handoff.logger.info("an event");
}
