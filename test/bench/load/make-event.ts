import { signalEvent } from "signalbox/testing";
import type { SignalEvent } from "signalbox";
import { scatteredEventIds } from "./event-ids.js";

/**
 * The n-th event, about as long as those of the fixtures.
 *
 * @param bodyBytes pads it to so many bytes of JSON
 */
export function makeEvent(n: number, bodyBytes = 0): SignalEvent {
  const { signalId, productId } = scatteredEventIds(n);
  const slug = `product-${productId}`;
  const event = signalEvent({
    data: {
      signal_id: signalId,
      product: { id: productId, slug },
      summary: `Monthly visits of ${slug} rose from 1,000 to 1,500, its strongest month in the observed year.`,
      url: `https://catalog.example/en/tools/${slug}`,
    },
  });
  if (bodyBytes > 0) {
    event.data.evidence_summary += "x".repeat(Math.max(0, bodyBytes - JSON.stringify(event).length));
  }
  return event;
}
