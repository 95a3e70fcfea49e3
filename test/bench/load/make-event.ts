import { signalEvent } from "signalbox/testing";
import type { SignalEvent } from "signalbox";
import { scatteredEventIds } from "./event-ids.js";

/** The n-th event, about as long as those of the fixtures. */
export function makeEvent(n: number): SignalEvent {
  const { signalId, productId } = scatteredEventIds(n);
  const slug = `product-${productId}`;
  return signalEvent({
    data: {
      signal_id: signalId,
      product: { id: productId, slug },
      summary: `Monthly visits of ${slug} rose from 1,000 to 1,500, its strongest month in the observed year.`,
      url: `https://catalog.example/en/tools/${slug}`,
    },
  });
}
