import type { Clock } from "../../base/time/clock.js";
import type { AlarmKind } from "../inbox/situation/alarm.js";
import type { InboxVitals } from "../inbox/open-inbox.js";
import { describeSituation, type SituationFacts } from "../inbox/situation/situation.js";
import type { InboxStore } from "../inbox/store.js";
import type { ReceiverEvents } from "./receiver-events.js";

/** The result of `receiver.health()`. Counts begin when the receiver is made. */
export interface ReceiverHealth extends InboxVitals, ReceiverVerification {
  /**
   * True while deliveries are accepted: the receiver runs, the last commit worked, and none has
   * been in flight for longer than `ackTimeoutMs`. Use it for a readiness route.
   */
  ok: boolean;
  state: ReceiverState;
  endpoint: string;
  store: {
    name: string;
    durable: boolean;
    shared: boolean;
    /** The error code of the last commit; null when it worked. */
    failure: string | null;
  };
  deliveries: DeliveryCounts;
  /** Of each kind of alarm, whether one goes on; empty before the first look for alarms. */
  alarms: Partial<Record<AlarmKind, boolean>>;
  /**
   * Whether deliveries get 503 or were refused, and whether hand-offs are behind or paused, since
   * when and by what error, in words. Events that were given up are not counted here:
   * `inbox.stats()` has them.
   */
  summary: string;
}

/** A receiver accepts deliveries while it is `running`. */
export type ReceiverState = "idle" | "starting" | "running" | "closing" | "closed";

/**
 * Whether this receiver has shown to the service, or to `signalbox doctor`, that it has the secret.
 */
export interface ReceiverVerification {
  /** True once it has answered the challenge of a `webhook.verification`. */
  verified: boolean;
  /** When the last challenge was answered; null before the first. */
  verifiedAt: Date | null;
}

/** The number of deliveries with each result, since the receiver was made. */
export interface DeliveryCounts {
  /** New events that were stored and can be used. */
  accepted: number;
  /** Known events. */
  duplicate: number;
  /** Known ids with other content, which is stored too if the sender does not sign its ids. */
  conflict: number;
  /** New authentic events that were stored but cannot be used, or whose type is not known. */
  quarantined: number;
  /**
   * Answered challenges of `webhook.verification` events, from the service and from `signalbox
   * doctor`.
   */
  verified: number;
  /** Refused deliveries, for any reason. */
  rejected: number;
  /** Refused deliveries with the code `overloaded`; `rejected` includes them. */
  shed: number;
}

/** Starts to count deliveries. @returns a function that returns the counts */
export function watchDeliveries({ on }: ReceiverEvents, clock: Clock) {
  const deliveries = {
    accepted: 0,
    duplicate: 0,
    conflict: 0,
    quarantined: 0,
    verified: 0,
    rejected: 0,
    shed: 0,
  };
  let verifiedAt: Date | null = null;
  for (const name of ["accepted", "duplicate", "conflict", "quarantined"] as const) {
    on(name, () => (deliveries[name] += 1));
  }
  on("rejected", ({ code }) => {
    deliveries.rejected += 1;
    if (code === "overloaded") deliveries.shed += 1;
  });
  on("verified", () => {
    deliveries.verified += 1;
    verifiedAt = new Date(clock.now());
  });
  return () => ({ verified: verifiedAt !== null, verifiedAt, deliveries: { ...deliveries } });
}

/** What only a slow query tells. */
const UNCOUNTED = { ready: null, dead: null, quarantined: null, hasReceiver: null };

export function healthOf(
  config: { endpoint: string; store: InboxStore; clock: Clock; ackTimeoutMs: number },
  now: {
    state: ReceiverState;
    /** The code of the last commit's error. */
    failure: string | null;
    vitals: InboxVitals;
    deliveries: ReturnType<ReturnType<typeof watchDeliveries>>;
    refused: SituationFacts["refused"];
    alarms: ReceiverHealth["alarms"];
  },
): ReceiverHealth {
  const { endpoint, store, clock, ackTimeoutMs } = config;
  const { state, failure, vitals, deliveries, refused, alarms } = now;
  const isSlow = vitals.commitInFlightMs > ackTimeoutMs;
  const unavailable = unavailableBecause(state, failure, isSlow);
  const { name, durable, shared } = store;
  return {
    ok: unavailable === null,
    state,
    endpoint,
    store: { name, durable, shared, failure },
    ...deliveries,
    ...vitals,
    alarms: { ...alarms },
    summary: describeSituation({
      ...UNCOUNTED,
      ...vitals,
      unavailable,
      refused,
      now: clock.now(),
    }).text,
  };
}

/** Why deliveries get 503; null when they are taken. */
function unavailableBecause(
  state: ReceiverState,
  failure: string | null,
  isCommitSlow: boolean,
): string | null {
  if (state !== "running") return `The receiver is ${state}`;
  if (failure !== null) return `Nothing can be stored: ${failure}`;
  return isCommitSlow ? "The store does not answer in time" : null;
}
