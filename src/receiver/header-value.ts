import type { DeliveryRequest, HeadersLike } from "./delivery.js";

/**
 * A header by its lower-case name, whatever the case it came in. One that was sent twice comes back joined, so that
 * nothing takes it for one.
 */
export function headerValue(headers: DeliveryRequest["headers"], name: string): string | undefined {
  if (isHeaders(headers)) return headers.get(name) ?? undefined;
  let found: string | undefined;
  for (const key in headers) {
    // The length first: this runs for every header of every delivery.
    if (key.length !== name.length || key.toLowerCase() !== name) continue;
    const value = headers[key];
    if (value === undefined) continue;
    const text = typeof value === "string" ? value : value.join(", ");
    found = found === undefined ? text : `${found}, ${text}`;
  }
  return found;
}

function isHeaders(headers: DeliveryRequest["headers"]): headers is HeadersLike {
  return typeof headers["get"] === "function";
}
