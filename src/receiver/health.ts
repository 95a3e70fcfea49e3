import type { InboxVitals } from "../inbox/inbox.js";
import type { Clock } from "../time/clock.js";
import type { ReceiverEvents } from "./receiver-events.js";

/** What `receiver.health()` returns. Counts begin when the receiver is made. */
export interface ReceiverHealth extends InboxVitals, ReceiverVerification {
  /** Deliveries are taken: the receiver is started and the last commit worked. Fit for a readiness route. */
  ok: boolean;
  state: ReceiverState;
  endpoint: string;
  store: {
    name: string;
    durable: boolean;
    shared: boolean;
    /** The code of the error that the last commit failed with; null when it worked. */
    failure: string | null;
  };
  deliveries: DeliveryCounts;
}

/** Where a receiver is in its life; deliveries are taken while it is `running`. */
export type ReceiverState = "idle" | "starting" | "running" | "closing" | "closed";

/** Whether the service, or `signalbox doctor`, has seen that this receiver has the secret. */
export interface ReceiverVerification {
  /** The challenge of a `webhook.verification` was answered since the receiver was made. */
  verified: boolean;
  /** When the last challenge was answered; null before the first. */
  verifiedAt: Date | null;
}

/** How many deliveries ended in which way since the receiver was made. */
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
  /** Refused, for any reason. */
  rejected: number;
  /** Those of the refused with code `overloaded`: more deliveries came than could be stored. */
  shed: number;
}

/** Counts deliveries from now on; the returned function gives the counts. */
export function watchDeliveries(
  { count, on }: ReceiverEvents,
  clock: Clock,
): () => ReceiverVerification & { deliveries: DeliveryCounts } {
  let shed = 0;
  let verifiedAt: Date | null = null;
  on("rejected", ({ code }) => {
    if (code === "overloaded") shed += 1;
  });
  on("verified", () => {
    verifiedAt = new Date(clock.now());
  });
  return () => ({
    verified: verifiedAt !== null,
    verifiedAt,
    deliveries: {
      accepted: count("accepted"),
      duplicate: count("duplicate"),
      conflict: count("conflict"),
      quarantined: count("quarantined"),
      verified: count("verified"),
      rejected: count("rejected"),
      shed,
    },
  });
}
