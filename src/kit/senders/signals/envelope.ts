import type { SignalType } from "./signal-types.js";

// Type aliases, not interfaces: TypeScript lets only aliases be used as `Record<string, unknown>`,
// which code needs to read a property that is not listed here.

/**
 * The properties of every event (service document, Events). Other properties that the service sends
 * are kept, but they are not in the types, so that a misspelt property does not compile.
 */
export type EventEnvelope<Type extends string, Data> = {
  /**
   * Unique for each event, and the same in every delivery of it. For signals
   * `sig_<signal_id>_<product_id>`.
   */
  id: string;
  version: "1";
  /**
   * TypeScript narrows the event by this property: `signal.published`, `webhook.test`,
   * `webhook.verification`.
   */
  type: Type;
  /** ISO 8601 date-time. */
  created_at: string;
  data: Data;
};

/** A measured value. The service may add units. */
export type Measure = {
  value: number;
  unit: "visits" | (string & {});
};

/** `data` of a signal (service document, signal.published). */
export type SignalData = {
  signal_id: number;
  /** The service may add types, so code for unknown types is needed. */
  signal_type: SignalType;
  product: { id: number; slug: string };
  title: string;
  summary: string;
  /** What changed, and how much. The service may add directions and units. */
  change: {
    direction: "up" | (string & {});
    magnitude: number;
    before: Measure;
    after: Measure;
  };
  /** ISO 8601 date-time. */
  observed_at: string;
  /** `start` and `end` are days in the form `YYYY-MM-DD`. */
  period: { start: string; end: string };
  /** ISO 8601 date-time. */
  published_at: string;
  evidence_summary: string;
  /** The product's public page. */
  url: string;
};

/** A newly published signal about a product that the account follows. */
export type SignalEvent = EventEnvelope<"signal.published", SignalData>;
/** Another name of {@link SignalEvent}. */
export type Signal = SignalEvent;
/** Sent when a user of the service tests a webhook. */
export type TestEvent = EventEnvelope<"webhook.test", { message: string }>;
/** Sent after registration. The answer must contain its challenge. */
export type VerificationEvent = EventEnvelope<"webhook.verification", { challenge: string }>;
/** An event of a type that this version of signalbox does not know. */
export type UnknownEvent = EventEnvelope<string, unknown>;
/** An event of a type that this version of signalbox knows; narrow it by `type`. */
export type KnownEvent = SignalEvent | TestEvent | VerificationEvent;
