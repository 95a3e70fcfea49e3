import type { ReceiverEvents } from "./receiver-events.js";

/** What became of the deliveries since the receiver was made. */
export interface DeliveryCounts {
  /** New events, stored. */
  accepted: number;
  /** Known ids, sent again. */
  duplicate: number;
  /** Known ids with another body. */
  conflict: number;
  /** Authentic but unusable bodies, kept. */
  quarantined: number;
  /** Challenges of `webhook.verification` events, answered: one for each registration, and those of `signalbox doctor`. */
  verified: number;
  /** Refused, for whatever reason. */
  rejected: number;
  /** Of them, those with code `overloaded`: more came than could be stored. */
  shed: number;
}

/** @returns how to ask for them */
export function countDeliveries({ count, on }: ReceiverEvents): () => DeliveryCounts {
  let shed = 0;
  on("rejected", ({ code }) => {
    if (code === "overloaded") shed += 1;
  });
  return () => ({
    accepted: count("accepted"),
    duplicate: count("duplicate"),
    conflict: count("conflict"),
    quarantined: count("quarantined"),
    verified: count("verified"),
    rejected: count("rejected"),
    shed,
  });
}
