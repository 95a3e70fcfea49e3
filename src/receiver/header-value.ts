import type { DeliveryRequest } from "./delivery.js";

/**
 * A header by its lower-case name. Node gives lower-case names, which is the fast way; others are searched for. A
 * header sent twice comes back joined, so that nothing takes it for one.
 */
export function headerValue(headers: DeliveryRequest["headers"], name: string): string | undefined {
  const direct = headers[name];
  if (typeof direct === "string") return direct;
  const values = Object.entries(headers)
    .filter(([key]) => key.toLowerCase() === name)
    .flatMap(([, value]) => value ?? []);
  return values.length === 0 ? undefined : values.join(", ");
}
