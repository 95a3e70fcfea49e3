import { setMaxListeners } from "node:events";
import { ignore, SignalboxError } from "../../base/errors.js";
import { LONGEST_DELAY_MS } from "../../base/time/units.js";
import { createInbox } from "../inbox/inbox.js";
import type { Inbox } from "../inbox/open-inbox.js";
import { readNews } from "../inbox/situation/receiver-report.js";
import { DEFAULT_SENDER } from "../inbox/stored-events.js";
import type { BackfilledEvent, BackfillResult } from "./backfill.js";
import { createHandOff, readAgainBy } from "./create-handoff.js";
import type { DeliveryRequest, DeliveryResponse } from "./delivery.js";
import { healthOf, watchDeliveries, type ReceiverHealth, type ReceiverState } from "./health.js";
import { observeHandoffs } from "./observe-handoffs.js";
import { resolveOptions, type ReceiverOptions, type SenderReceiverOptions } from "./options.js";
import { createLaneOf } from "./order.js";
import { createPipeline } from "./pipeline.js";
import {
  createReceiverEvents,
  type ReceiverEventListener,
  type ReceiverEventName,
} from "./receiver-events.js";
import {
  createReceiverLines,
  logEvents,
  createLogThrottle,
  createReceiverLog,
  errorCode,
} from "./receiver-log.js";
import { withParts } from "./receiver-parts.js";
import { createReporter } from "./reporter.js";
import { watchAlarms } from "./watch-alarms.js";

/** Accepts deliveries and hands events off. */
export interface Receiver {
  /**
   * Opens the store, takes over the leases of a process that died, and begins to hand off.
   * Idempotent. Until it resolves, every delivery gets 503.
   *
   * @throws SignalboxError `store_in_use`, `store_unsupported`, `store_newer`, `store_corrupt`,
   * `store_failed`, `receiver_closed`
   */
  start(): Promise<void>;
  /**
   * Answers 503 from now on, waits `graceMs` for running callbacks, aborts the rest, and closes the
   * store. Events that were not handed off are handed off after the next start. Idempotent; leaves
   * no timer and no handle behind. If the store does not answer, it resolves 15 seconds after
   * `graceMs`, and an error is logged.
   *
   * @param options `graceMs`: @default 10000, also for what is no number of milliseconds
   */
  close(options?: { graceMs?: number | undefined }): Promise<void>;
  /**
   * Waits until what was accepted or due before the call is handed off, for a process that is
   * frozen or ended after its answer. Does not stop the receiver.
   *
   * @param options `timeoutMs`: @default `handoff.timeoutMs` and 5 seconds, also for what is no
   * number of milliseconds
   * @returns true when everything due at the call was handed off and its results are durable; false
   * on time-out, when the store refuses a result, while hand-offs are paused, or when the receiver
   * is not running. Later retries are not waited for, nor callbacks that go on after their attempt
   * has timed out
   */
  drain(options?: { timeoutMs?: number | undefined }): Promise<boolean>;
  /** The same as `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
  /**
   * Answers one delivery, for any framework. Never rejects. Bytes are copied, so the caller can use
   * its buffer again immediately.
   *
   * @returns null when the client has closed the connection
   */
  handle(request: DeliveryRequest & { body: Uint8Array }): Promise<DeliveryResponse>;
  /** The same for a body that arrives in chunks. */
  handle(request: DeliveryRequest): Promise<DeliveryResponse | null>;
  /**
   * Stores an event that came by the sender's API, such as after an outage: read, remembered and
   * handed off as a delivered one, without a signature. Resolves once it is durable.
   *
   * @throws SignalboxError `store_failed`, `receiver_closed`, `option_invalid`
   */
  accept(event: BackfilledEvent): Promise<BackfillResult>;
  /**
   * The current state. With `sqliteStore` this runs one query over an index and reads the sizes of
   * two files.
   */
  health(): ReceiverHealth;
  /**
   * Calls the listener for each event of this name. The answer is sent after the listener returns,
   * so keep it short.
   *
   * @returns a function that removes the listener
   * @throws SignalboxError `option_unknown` for a name that does not exist, `option_invalid` for a
   * listener that is no function
   */
  on<Name extends ReceiverEventName>(name: Name, listener: ReceiverEventListener<Name>): () => void;
  /** The accepted events of this receiver's endpoint. */
  readonly inbox: Inbox;
}

export const DEFAULT_GRACE_MS = 10_000;
/** An attempt that has timed out still needs its commit. */
export const DRAIN_MARGIN_MS = 5000;
/**
 * Makes a receiver of signed deliveries. It opens and starts nothing before `start()`.
 *
 * @throws SignalboxError `option_unknown`, `option_invalid`, `secret_invalid`
 * @example
 * const receiver = createReceiver({
 *   secrets: process.env.SIGNALS_SECRET ?? "",
 *   store: sqliteStore("signals.db"),
 *   onSignal: (signal, handoff) => queue.add(signal.data.signal_type, signal, { jobId: handoff.deliveryKey }),
 * });
 * await receiver.start();
 */
export function createReceiver(options: ReceiverOptions): Receiver;
/**
 * The same for another sender.
 *
 * @example
 * const receiver = createReceiver({
 *   sender: stripe<Stripe.Event>(),
 *   endpoint: "stripe",
 *   secrets: process.env.STRIPE_WEBHOOK_SECRET,
 *   store: sqliteStore("inbox.db"),
 *   onEvent: { "invoice.paid": (event, handoff) => queue.add(event.type, event, { jobId: handoff.deliveryKey }) },
 * });
 */
export function createReceiver<Events extends object>(
  options: SenderReceiverOptions<Events>,
): Receiver;
export function createReceiver<Events extends object>(
  options: ReceiverOptions | SenderReceiverOptions<Events>,
): Receiver {
  const config = resolveOptions(options);
  const { clock, endpoint, store, sender } = config;
  const log = createReceiverLog(config.logger, config.logErrors);
  const logging = { log, throttle: createLogThrottle(clock), endpoint };
  const lines = createReceiverLines(logging, store);
  const events = createReceiverEvents((event, error) =>
    log.failure("error", { event }, error, "a listener failed"),
  );
  logEvents(events, logging, sender.unsignedId);
  const deliveries = watchDeliveries(events, clock);

  let state: ReceiverState = "idle";
  /** The code of the last commit's error. */
  let storeFailure: string | null = null;
  let starting: Promise<void> | null = null;
  let closing: Promise<void> | null = null;
  const closed = new AbortController();
  // Each export of the inbox page listens to it.
  setMaxListeners(0, closed.signal);
  const drainMs = config.handoff.timeoutMs + DRAIN_MARGIN_MS;

  const senderName = sender.name === DEFAULT_SENDER ? null : sender.name;
  const telemetry =
    config.telemetry?.observe({
      endpoint,
      sender: senderName,
      logErrors: config.logErrors,
      health: () => receiver.health(),
      onError: lines.telemetryFailed,
    }) ?? null;

  const laneOf = createLaneOf(config.order, config.coalesce, lines.laneFailed);
  const inbox = createInbox({
    ...config,
    ordered: config.order !== undefined,
    hasTenants: config.tenant !== undefined,
    ...config.handoff,
    sender: senderName,
    unsignedId: sender.unsignedId,
    unsignedFacts: sender.unsignedFacts,
    repeatedBody: sender.repeatedBody,
    readAgain: readAgainBy((name) => (sender.reads.includes(name) ? sender : undefined), laneOf),
    handOff: createHandOff({
      ...config,
      telemetry,
      completeSql: (event) => inbox.completeSql(event),
    }),
    observe: observeHandoffs({
      endpoint,
      clock,
      log,
      events,
      telemetry,
      onBreaker: () => reporter.changed(),
    }),
    onHealth(failure) {
      storeFailure = failure === null ? null : errorCode(failure);
      lines.health(failure);
    },
    onCommit: telemetry?.commit,
    onRetentionError: lines.notPruned,
  });

  const reporter = createReporter({
    clock,
    pause: inbox.pause,
    shared: store.shared,
    save: async (...report) =>
      state === "running" || state === "closing" ? inbox.saveReport(...report) : true,
  });

  const alarms = watchAlarms(config, events, () => receiver.health());

  const pipeline = createPipeline({
    ...config,
    inbox,
    laneOf,
    events,
    telemetry,
    unavailable() {
      if (state === "running") return null;
      if (state === "closing" || state === "closed") return "closing";
      lines.notRunning(state);
      return "store_unavailable";
    },
    onRefused: reporter.refused,
    onTrouble: lines.trouble,
    onRepeated: lines.repeated,
    onUnhandled: lines.unhandled,
  });

  async function start(): Promise<void> {
    state = "starting";
    try {
      const { reclaimed } = await inbox.open();
      lines.started(reclaimed, inbox.vitals().shortage);
      state = "running";
      alarms.start();
      // A process that was killed may have left its pause.
      if (!store.shared)
        readNews(store, endpoint, clock.now()).then(
          ({ pause }) => pause && reporter.changed(),
          ignore,
        );
    } catch (error) {
      state = "idle";
      starting = null;
      throw error;
    }
  }

  async function close(graceMs: number): Promise<void> {
    const wasStarted = starting !== null;
    try {
      await starting?.catch(ignore);
      state = "closing";
      closed.abort();
      pipeline.endWaits();
      alarms.close();
      // The store waits for this write when it closes.
      reporter.close();
      if (wasStarted && !(await inbox.close(graceMs))) lines.inboxNotClosed();
    } finally {
      telemetry?.close();
      await config.secrets.close().catch(lines.secretsNotClosed);
      state = "closed";
    }
    if (wasStarted) lines.closed();
  }

  const receiver: Receiver = {
    start() {
      if (closing !== null) {
        const help = "Make a new one with createReceiver.";
        return Promise.reject(
          new SignalboxError("receiver_closed", "This receiver was closed.", help),
        );
      }
      return (starting ??= start());
    },
    close: (closeOptions) =>
      (closing ??= keepingAlive(close(waitOf(closeOptions?.graceMs, DEFAULT_GRACE_MS)))),
    drain: (drainOptions) => keepingAlive(inbox.drain(waitOf(drainOptions?.timeoutMs, drainMs))),
    [Symbol.asyncDispose]: () => receiver.close(),
    handle: pipeline.handle as Receiver["handle"],
    accept: pipeline.accept,
    health: () =>
      healthOf(config, {
        state,
        failure: storeFailure,
        vitals: inbox.vitals(),
        deliveries: deliveries(),
        refused: reporter.refusals(),
        alarms: alarms.goingOn,
      }),
    on(name, listener) {
      const remove = events.on(name, listener);
      alarms.schedule();
      return remove;
    },
    inbox: inbox.reader,
  };
  return withParts(receiver, { inbox: inbox.opened, clock, log, closing: closed.signal });
}

/**
 * A number that is no wait counts as absent: a refused `close` would not wait for the callbacks
 * when the process ends.
 */
function waitOf(ms: unknown, otherwise: number): number {
  return Math.min(typeof ms === "number" && ms >= 0 ? ms : otherwise, LONGEST_DELAY_MS);
}

/**
 * The receiver's timers do not keep the process alive, but it must live until the callbacks have
 * ended.
 */
async function keepingAlive<Result>(work: Promise<Result>): Promise<Result> {
  const timer = setInterval(ignore, 2 ** 30);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}
