import { isKnownSignalType, type Handoff, type Signal, type SignalType } from "signalbox";

/**
 * Does the work for a signal: replace it with the work of your system. When it resolves, the signal
 * is done. When it rejects, it is called again, later each time; `PermanentFailure` and
 * `RetryLater` of signalbox change that.
 *
 * After a crash a signal can come again, with the same `handoff.deliveryKey`. Store that key with
 * the effect, or give it to the other system as its idempotency key.
 */
export async function onSignal(
  signal: Signal,
  handoff: Pick<Handoff, "deliveryKey" | "logger">,
): Promise<void> {
  const { signal_type: type, product, title } = signal.data;
  handoff.logger.info({ type, product: product.slug, team: teamFor(type) }, title);
}

/** Chooses the team by the signal type. The compiler refuses a misspelt type. */
export function teamFor(type: SignalType): "pricing" | "growth" | "everyone" {
  // The service can send types that this release of signalbox does not know.
  if (!isKnownSignalType(type)) return "everyone";
  switch (type) {
    case "price_increased":
    case "price_decreased":
    case "pricing_model_changed":
      return "pricing";
    case "traffic_breakout":
    case "traffic_acceleration":
    case "traffic_deceleration":
      return "growth";
    default:
      return "everyone";
  }
}
