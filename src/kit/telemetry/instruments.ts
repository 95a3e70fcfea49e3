import type {
  Attributes,
  BatchObservableResult,
  Counter,
  Histogram,
  Meter,
} from "@opentelemetry/api";
import { CRASH_LOOP } from "../inbox/crashes.js";
import type { ReceiverHealth } from "../receiver/health.js";
import { REJECTIONS } from "../receiver/rejection.js";
import type { DeliveryOutcome, ObservedReceiver } from "../receiver/telemetry.js";

const SECONDS = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
];
const ATTEMPTS = [1, 2, 3, 5, 8, 13, 20];
const ACKNOWLEDGED: readonly DeliveryOutcome[] = [
  "accepted",
  "duplicate",
  "conflict",
  "quarantined",
  "verified",
];
const DELIVERY_OUTCOMES: readonly string[] = [
  ...ACKNOWLEDGED,
  "client_gone",
  ...Object.keys(REJECTIONS),
];
const HANDOFF_OUTCOMES = [
  "done",
  "rejected",
  "timeout",
  "permanent",
  "later",
  "shutdown",
  "lease_lost",
] as const;
const DEAD_REASONS = ["permanent_failure", "attempts_exhausted", CRASH_LOOP];

/** The metrics of a receiver. Durations are in milliseconds here, and in seconds there. */
export function createInstruments(
  meter: Meter,
  { endpoint, sender }: Pick<ObservedReceiver, "endpoint" | "sender">,
  health: () => ReceiverHealth,
) {
  const here: Attributes = {
    "signalbox.endpoint": endpoint,
    ...(sender !== null && { "signalbox.sender": sender }),
  };
  const attributesOf = (name: string, value: string): Attributes => ({
    ...here,
    [`signalbox.${name}`]: value,
  });

  /**
   * Null once the receiver is closed. The SDK calls `observe` once more, and until then would keep
   * the receiver in memory.
   */
  let source: (() => ReceiverHealth) | null = health;

  const counter = (name: string, unit: string, description: string) =>
    meter.createCounter(`signalbox.${name}`, { description, unit });
  const gauge = (name: string, unit: string, description: string) =>
    meter.createObservableGauge(`signalbox.${name}`, { description, unit });
  const histogram = (
    name: string,
    unit: string,
    explicitBucketBoundaries: number[],
    description: string,
  ) =>
    meter.createHistogram(`signalbox.${name}`, {
      description,
      unit,
      advice: { explicitBucketBoundaries },
    });

  const deliveries = counter("deliveries", "{delivery}", "Deliveries by outcome.");
  const deliverySeconds = histogram(
    "delivery.duration",
    "s",
    SECONDS,
    "From the receiver's call to its answer.",
  );
  const commitSeconds = histogram(
    "commit.duration",
    "s",
    SECONDS,
    "Commits of the inbox, until they are durable.",
  );
  const handoffs = counter("handoffs", "{attempt}", "Attempts to hand an event off, by outcome.");
  const handoffSeconds = histogram(
    "handoff.duration",
    "s",
    SECONDS,
    "From the call of the callback to its end.",
  );
  const attempts = histogram(
    "handoff.attempts",
    "{attempt}",
    ATTEMPTS,
    "Attempts that an event had used when it was done or dead.",
  );
  const deadEvents = counter("dead", "{event}", "Events that became dead, by reason.");
  const superseded = counter(
    "superseded",
    "{event}",
    "Events that a newer one of their burst has superseded, with the option coalesce.",
  );

  const up = gauge("up", "1", "1 while deliveries are accepted, otherwise 0.");
  const queuedEvents = gauge("queue.events", "{event}", "Events that wait for their commit.");
  const queuedBytes = gauge("queue.size", "By", "Bytes of the events that wait for their commit.");
  const running = gauge("handoffs.running", "{attempt}", "Callbacks that run.");
  const backlogAge = gauge(
    "backlog.age",
    "s",
    "For how long the oldest event that waits for its hand-off has been due.",
  );
  const waitingBehind = gauge(
    "order.waiting",
    "{event}",
    "With the option order: events that wait behind another one, counted once a minute.",
  );
  const isPaused = gauge(
    "handoffs.paused",
    "1",
    "1 while no hand-off begins, for whatever reason, otherwise 0.",
  );
  const syncSeconds = gauge(
    "sync.duration",
    "s",
    "Quantiles of the last 512 syncs of the disk, if the store tells them.",
  );
  const alarm = gauge("alarm", "1", "1 while an alarm of this kind goes on, otherwise 0.");

  let alarms: ReceiverHealth["alarms"] = {};
  const quantilesTold = new Set<string>();

  /**
   * @param total counts the values too. It is at 0 from the start: Prometheus sees no increase of a
   * series that begins at 1
   */
  function byOutcome<Outcome extends string>(
    outcomes: readonly Outcome[],
    values: Histogram,
    total?: Counter,
  ) {
    const series = new Map(outcomes.map((outcome) => [outcome, attributesOf("outcome", outcome)]));
    for (const attributes of series.values()) total?.add(0, attributes);
    return (outcome: Outcome, ms: number): void => {
      const attributes = series.get(outcome);
      total?.add(1, attributes);
      values.record(ms / 1000, attributes);
    };
  }

  /** Called at each collection. */
  function observe(result: BatchObservableResult): void {
    if (source === null) return observeClosed(result);
    const told = source();
    const { ok, queued, running: callbacks, paused, oldestReadyAgeMs, waiting, medium } = told;
    result.observe(up, ok ? 1 : 0, here);
    result.observe(queuedEvents, queued.events, here);
    result.observe(queuedBytes, queued.bytes, here);
    result.observe(running, callbacks, here);
    result.observe(waitingBehind, waiting, here);
    result.observe(isPaused, paused === null ? 0 : 1, here);
    if (oldestReadyAgeMs !== null) result.observe(backlogAge, oldestReadyAgeMs / 1000, here);
    ({ alarms } = told);
    for (const [kind, isOn] of Object.entries(alarms))
      result.observe(alarm, isOn ? 1 : 0, attributesOf("kind", kind));
    const { p50Ms, p99Ms } = (medium?.["sync"] ?? {}) as { p50Ms?: unknown; p99Ms?: unknown };
    observeSync(result, "0.5", p50Ms);
    observeSync(result, "0.99", p99Ms);
  }
  const states = [up, queuedEvents, queuedBytes, running, waitingBehind, isPaused, backlogAge];
  const observed = [...states, syncSeconds, alarm];

  function observeSync(result: BatchObservableResult, quantile: string, ms: unknown): void {
    if (typeof ms !== "number") return;
    quantilesTold.add(quantile);
    result.observe(syncSeconds, ms / 1000, attributesOf("quantile", quantile));
  }

  /** Zeros, once: an SDK may export the last value of a gauge for as long as the process runs. */
  function observeClosed(result: BatchObservableResult): void {
    for (const state of states) result.observe(state, 0, here);
    for (const kind of Object.keys(alarms)) result.observe(alarm, 0, attributesOf("kind", kind));
    for (const quantile of quantilesTold)
      result.observe(syncSeconds, 0, attributesOf("quantile", quantile));
    // Later, because the SDK goes through its list of callbacks now and would skip the next one.
    queueMicrotask(() => meter.removeBatchObservableCallback(observe, observed));
  }

  meter.addBatchObservableCallback(observe, observed);
  superseded.add(0, here);
  for (const reason of DEAD_REASONS) deadEvents.add(0, attributesOf("reason", reason));

  return {
    close(): void {
      source = null;
    },
    delivered: byOutcome(DELIVERY_OUTCOMES, deliverySeconds, deliveries),
    committed: byOutcome(["done", "failed"], commitSeconds),
    handedOff: byOutcome(HANDOFF_OUTCOMES, handoffSeconds, handoffs),
    superseded: (count: number) => superseded.add(count, here),
    finished: (count: number) => attempts.record(count, here),
    dead: (reason: string) => deadEvents.add(1, attributesOf("reason", reason)),
  };
}
