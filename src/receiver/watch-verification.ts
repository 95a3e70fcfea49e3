import type { Clock } from "../time/clock.js";
import type { ReceiverEvents } from "./receiver-events.js";

/** Whether the service, or `signalbox doctor`, has seen that this receiver has the secret. */
export interface ReceiverVerification {
  /** The challenge of a `webhook.verification` was answered since the receiver was made. */
  verified: boolean;
  /** When the last one was; null before the first. */
  verifiedAt: Date | null;
}

/** @returns how to ask for it */
export function watchVerification({ on }: ReceiverEvents, clock: Clock): () => ReceiverVerification {
  let verifiedAt: number | null = null;
  on("verified", () => {
    verifiedAt = clock.now();
  });
  return () => ({
    verified: verifiedAt !== null,
    verifiedAt: verifiedAt === null ? null : new Date(verifiedAt),
  });
}
