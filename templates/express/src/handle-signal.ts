import { isKnownSignalType, PermanentFailure, RetryLater, type Signal } from "signalbox";

/** A message, and the team that gets it. */
export interface Alert {
  team: "pricing" | "growth" | "product" | "everyone";
  text: string;
}

export interface HandlingContext {
  /** The same each time this signal is handled: pass it on, so that a repeat changes nothing. */
  deliveryKey: string;
  /** Aborted when there is no time left. */
  abortSignal: AbortSignal;
}

export interface AlertTarget {
  /** Where alerts are posted. */
  url: string | undefined;
  /** What happens to alerts if there is no address. */
  log: (alert: Alert) => void;
}

/** Handles one signal. Replace it with what your system does. */
export async function handleSignal(signal: Signal, context: HandlingContext, target: AlertTarget): Promise<void> {
  const alert = alertOf(signal);
  if (target.url === undefined) target.log(alert);
  else await postAlert(target.url, alert, context);
}

/** The compiler knows the types: a misspelt one is an error, and so is a `switch` without `default`. */
export function alertOf({ data }: Signal): Alert {
  const type = data.signal_type;
  const text = `${data.title} (${data.url})`;
  // The service may send types that are newer than this release of signalbox.
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

/** Resolves when the other server has it. */
async function postAlert(url: string, alert: Alert, { deliveryKey, abortSignal }: HandlingContext): Promise<void> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", "Idempotency-Key": deliveryKey },
    body: JSON.stringify(alert),
    signal: abortSignal,
    // A redirect would turn the POST into a GET, and no alert would arrive.
    redirect: "manual",
  });
  // The connection can be used again only when the body was read.
  await response.arrayBuffer();
  if (response.status === 429) throw new RetryLater("alerts are rate limited", { delayMs: 60_000 });
  // Another attempt would be refused too. The signal waits for a person.
  if (response.status === 400 || response.status === 422)
    throw new PermanentFailure(`alert refused: ${response.status}`);
  if (!response.ok) throw new Error(`alerts answered ${response.status}`);
}
