import { isKnownSignalType, PermanentFailure, RetryLater, type Signal } from "signalbox";

/** A message for a team. */
export interface Alert {
  team: "pricing" | "growth" | "product" | "everyone";
  text: string;
}

export interface HandlingContext {
  /** The same value each time this signal is handled. Pass it on, so that the other system can ignore repeats. */
  deliveryKey: string;
  /** Aborts when the time for this signal is over. */
  abortSignal: AbortSignal;
}

export interface AlertTarget {
  /** The address that alerts are posted to. */
  url: string | undefined;
  /** Logs alerts if there is no address. */
  log: (alert: Alert) => void;
}

/** Handles a signal. Replace this function with the work of your system. */
export async function handleSignal(signal: Signal, context: HandlingContext, target: AlertTarget): Promise<void> {
  const alert = alertOf(signal);
  if (target.url === undefined) target.log(alert);
  else await postAlert(target.url, alert, context);
}

/** Chooses the team by the signal type. The compiler refuses a misspelt type, and a `switch` without `default`. */
export function alertOf({ data }: Signal): Alert {
  const type = data.signal_type;
  const text = `${data.title} (${data.url})`;
  // The service can send types that this release of signalbox does not know.
  if (!isKnownSignalType(type)) return { team: "everyone", text: `${type}: ${text}` };
  switch (type) {
    case "price_increased":
    case "price_decreased":
    case "pricing_model_changed":
    case "free_plan_added":
    case "free_plan_removed":
      return { team: "pricing", text };
    case "traffic_breakout":
    case "traffic_acceleration":
    case "traffic_deceleration":
      return { team: "growth", text: `${text}: ${data.change.before.value} to ${data.change.after.value}` };
    case "new_feature":
    case "product_launch":
    case "product_discontinued":
      return { team: "product", text };
    default:
      return { team: "everyone", text: `${type}: ${text}` };
  }
}

/** Resolves when the other server has accepted the alert. */
async function postAlert(url: string, alert: Alert, { deliveryKey, abortSignal }: HandlingContext): Promise<void> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", "Idempotency-Key": deliveryKey },
    body: JSON.stringify(alert),
    signal: abortSignal,
    // A followed redirect would turn the POST into a GET, which loses the alert.
    redirect: "manual",
  });
  // Without reading the body, the connection could not be used again.
  await response.arrayBuffer();
  if (response.status === 429) throw new RetryLater("alerts are rate limited", { delayMs: 60_000 });
  // Another attempt would be refused too, so the signal becomes dead.
  if (response.status === 400 || response.status === 422)
    throw new PermanentFailure(`alert refused: ${response.status}`);
  if (!response.ok) throw new Error(`alerts answered ${response.status}`);
}
