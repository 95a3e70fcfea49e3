import type { Attributes, BatchObservableResult, Counter, Meter } from "@opentelemetry/api";
import { CRASH_LOOP } from "../inbox/store.js";
import type { ReceiverHealth } from "../receiver/health.js";
import { REJECTIONS } from "../receiver/rejection.js";
import type { DeliveryOutcome, HandoffOutcome } from "../receiver/telemetry.js";

const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const ATTEMPTS = [1, 2, 3, 5, 8, 13, 20];
const ACKNOWLEDGED: readonly DeliveryOutcome[] = ["accepted", "duplicate", "conflict", "quarantined", "verified"];
const DELIVERY_OUTCOMES = [...ACKNOWLEDGED, "client_gone", ...Object.keys(REJECTIONS)];
const HANDOFF_OUTCOMES: readonly HandoffOutcome[] = [
  "done",
  "rejected",
  "timeout",
  "permanent",
  "later",
  "shutdown",
  "lease_lost",
];
const DEAD_REASONS = ["permanent_failure", "attempts_exhausted", CRASH_LOOP];

/** The metrics of a receiver. Durations are in milliseconds here, and in seconds there. */
export function createInstruments(meter: Meter, endpoint: string, health: () => ReceiverHealth) {
  const here: Attributes = { "signalbox.endpoint": endpoint };
  const withOutcome = attributesBy("signalbox.outcome");
  const withReason = attributesBy("signalbox.reason");
  const quantiles = attributesBy("signalbox.quantile");

  /** Makes the attributes of each value once. The values are from fixed lists. */
  function attributesBy(name: string): (value: string) => Attributes {
    const made = new Map<string, Attributes>();
    return (value) => {
      const known = made.get(value);
      if (known !== undefined) return known;
      const attributes = { ...here, [name]: value };
      made.set(value, attributes);
      return attributes;
    };
  }

  /** Null when the receiver is closed: until the next collection the SDK keeps what `observe` refers to. */
  let source: (() => ReceiverHealth) | null = health;

  const seconds = (name: string, description: string) =>
    meter.createHistogram(`signalbox.${name}`, {
      description,
      unit: "s",
      advice: { explicitBucketBoundaries: SECONDS },
    });
  const counter = (name: string, unit: string, description: string) =>
    meter.createCounter(`signalbox.${name}`, { description, unit });
  const gauge = (name: string, unit: string, description: string) =>
    meter.createObservableGauge(`signalbox.${name}`, { description, unit });

  const deliveries = countLater(counter("deliveries", "{delivery}", "Deliveries by outcome."), DELIVERY_OUTCOMES);
  const deliverySeconds = seconds("delivery.duration", "From the receiver's call to its answer.");
  const commitSeconds = seconds("commit.duration", "Commits of the inbox, until they are durable.");
  const handoffs = countLater(
    counter("handoffs", "{attempt}", "Attempts to hand an event off, by outcome."),
    HANDOFF_OUTCOMES,
  );
  const handoffSeconds = seconds("handoff.duration", "From the call of the callback to its end.");
  const attempts = meter.createHistogram("signalbox.handoff.attempts", {
    description: "Attempts that an event had used when it was done or dead.",
    unit: "{attempt}",
    advice: { explicitBucketBoundaries: ATTEMPTS },
  });
  const deadEvents = counter("dead", "{event}", "Events that became dead, by reason.");

  const up = gauge("up", "1", "1 while deliveries are accepted, otherwise 0.");
  const queuedEvents = gauge("queue.events", "{event}", "Events that wait for their commit.");
  const queuedBytes = gauge("queue.size", "By", "Bytes of the events that wait for their commit.");
  const running = gauge("handoffs.running", "{attempt}", "Callbacks that run.");
  const backlogAge = gauge(
    "backlog.age",
    "s",
    "For how long the oldest event that waits for its hand-off has been due.",
  );
  const paused = gauge(
    "breaker.open",
    "1",
    "1 while hand-offs are paused because the callback keeps failing, otherwise 0.",
  );
  const syncSeconds = gauge(
    "sync.duration",
    "s",
    "Quantiles of the last 512 syncs of the disk, if the store tells them.",
  );

  const quantilesTold = new Set<Attributes>();

  /**
   * Adds to a counter at the next collection: to add for each delivery would take several times as long. Each outcome is at 0
   * from the start, because Prometheus cannot see the increase of a series that begins at 1.
   */
  function countLater(total: Counter, outcomes: readonly string[]) {
    const counts = new Map<Attributes, number>();
    for (const outcome of outcomes) counts.set(withOutcome(outcome), 0);
    return {
      add(attributes: Attributes): void {
        if (source === null) return total.add(1, attributes);
        counts.set(attributes, (counts.get(attributes) ?? 0) + 1);
      },
      flush(): void {
        for (const [attributes, count] of counts) total.add(count, attributes);
        counts.clear();
      },
    };
  }

  /** Called at each collection, before the SDK reads the counters. */
  function observe(result: BatchObservableResult): void {
    if (source === null) return observeClosed(result);
    deliveries.flush();
    handoffs.flush();
    const { ok, queued, running: callbacks, breaker, oldestReadyAgeMs, medium } = source();
    result.observe(up, ok ? 1 : 0, here);
    result.observe(queuedEvents, queued.events, here);
    result.observe(queuedBytes, queued.bytes, here);
    result.observe(running, callbacks, here);
    result.observe(paused, breaker === "closed" ? 0 : 1, here);
    if (oldestReadyAgeMs !== null) result.observe(backlogAge, oldestReadyAgeMs / 1000, here);
    const { p50Ms, p99Ms } = (medium?.["sync"] ?? {}) as { p50Ms?: unknown; p99Ms?: unknown };
    observeSync(result, "0.5", p50Ms);
    observeSync(result, "0.99", p99Ms);
  }
  const states = [up, queuedEvents, queuedBytes, running, paused, backlogAge];
  const observed = [...states, syncSeconds];

  function observeSync(result: BatchObservableResult, quantile: string, ms: unknown): void {
    if (typeof ms !== "number") return;
    quantilesTold.add(quantiles(quantile));
    result.observe(syncSeconds, ms / 1000, quantiles(quantile));
  }

  /** Zeros, once: an SDK may export the last value of a gauge for as long as the process runs. */
  function observeClosed(result: BatchObservableResult): void {
    for (const state of states) result.observe(state, 0, here);
    for (const quantile of quantilesTold) result.observe(syncSeconds, 0, quantile);
    // Later, because the SDK goes through its list of callbacks now and would skip the next one.
    queueMicrotask(() => meter.removeBatchObservableCallback(observe, observed));
  }

  meter.addBatchObservableCallback(observe, observed);
  for (const reason of DEAD_REASONS) deadEvents.add(0, withReason(reason));

  return {
    close(): void {
      deliveries.flush();
      handoffs.flush();
      source = null;
    },
    delivered(outcome: DeliveryOutcome, durationMs: number): void {
      const attributes = withOutcome(outcome);
      deliveries.add(attributes);
      deliverySeconds.record(durationMs / 1000, attributes);
    },
    committed: (worked: boolean, durationMs: number) =>
      commitSeconds.record(durationMs / 1000, withOutcome(worked ? "done" : "failed")),
    handedOff(outcome: HandoffOutcome, durationMs: number): void {
      const attributes = withOutcome(outcome);
      handoffs.add(attributes);
      handoffSeconds.record(durationMs / 1000, attributes);
    },
    finished: (used: number) => attempts.record(used, here),
    dead: (reason: string) => deadEvents.add(1, withReason(reason)),
  };
}
