import { errorName, isSignalboxError, PermanentFailure, SignalboxError } from "../errors.js";
import type { Signal, TestEvent } from "../events/envelope.js";
import { parseEvent } from "../events/parse-event.js";
import type { LazyAbort } from "../inbox/abort-handle.js";
import type { DispatcherObserver, QueuedEvent } from "../inbox/dispatcher.js";
import { createInbox, type Inbox } from "../inbox/inbox.js";
import type { ClaimedEvent } from "../inbox/store.js";
import { createHandoff } from "./create-handoff.js";
import type { DeliveryRequest, DeliveryResponse } from "./delivery.js";
import { watchDeliveries, type ReceiverHealth, type ReceiverState } from "./health.js";
import { createLogThrottle } from "./log-throttle.js";
import { resolveOptions, type ReceiverOptions } from "./options.js";
import { createPipeline } from "./pipeline.js";
import {
  createReceiverEvents,
  deliveryKeyOf,
  referenceTo,
  type ReceiverEventListener,
  type ReceiverEventName,
} from "./receiver-events.js";
import type { RejectionCode } from "./rejection.js";

/** Takes deliveries, and hands events off. */
export interface Receiver {
  /**
   * Opens the store, takes over what a dead predecessor had in hand, and begins to hand off. Idempotent. Until it
   * resolves, every delivery gets 503.
   *
   * @throws SignalboxError `store_in_use`, `store_unsupported`, `store_newer`, `store_corrupt`, `store_failed`,
   * `receiver_closed`
   */
  start(): Promise<void>;
  /**
   * Takes no more (503), waits `graceMs` for callbacks that run, aborts the rest, and closes the store. What was not
   * handed off is still there at the next start. Idempotent; leaves no timer and no handle behind.
   *
   * @param options `graceMs`: @default 10000
   */
  close(options?: { graceMs?: number }): Promise<void>;
  /** The same as `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
  /**
   * One delivery in, one answer out, for any framework.
   *
   * @returns null when the client went away and nobody is there to be answered. Never rejects.
   */
  handle(request: DeliveryRequest & { body: Uint8Array }): Promise<DeliveryResponse>;
  /** The same for a body that is still to be read. */
  handle(request: DeliveryRequest): Promise<DeliveryResponse | null>;
  /** How it is, at once and without a look at the disk. */
  health(): ReceiverHealth;
  /**
   * Calls the listener for each event of this name, before the answer goes out: keep it short.
   *
   * @returns how to stop listening
   */
  on<Name extends ReceiverEventName>(name: Name, listener: ReceiverEventListener<Name>): () => void;
  /** The accepted events of this receiver's endpoint. */
  readonly inbox: Inbox;
}

const DEFAULT_GRACE_MS = 10_000;

/**
 * Makes a receiver of signed deliveries. It opens nothing and starts nothing before `start()`.
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
export function createReceiver(options: ReceiverOptions): Receiver {
  const config = resolveOptions(options);
  const { logger, clock, endpoint, store } = config;
  const events = createReceiverEvents(logger);
  const deliveries = watchDeliveries(events, clock);
  const throttle = createLogThrottle(clock);

  let state: ReceiverState = "idle";
  let storeFailure: string | null = null;
  let starting: Promise<void> | null = null;
  let closing: Promise<void> | null = null;

  const inbox = createInbox({
    store,
    endpoint,
    clock,
    maxQueued: config.maxQueued,
    retention: config.retention,
    ...config.handoff,
    handOff,
    observe: createObserver(),
    onHealth(failure) {
      const code = failure === null ? null : codeOf(failure);
      if (code !== null && storeFailure === null) {
        logger.error({ code, help: helpOf(failure) }, "the inbox cannot be written: deliveries get 503");
      }
      if (code === null) logger.info("the inbox can be written again");
      storeFailure = code;
    },
    onRetentionError: (error) => logger.warn({ code: codeOf(error) }, "old events could not be pruned"),
  });

  const pipeline = createPipeline({
    ...config,
    inbox,
    events,
    unavailable() {
      if (state === "running") return null;
      return state === "closing" || state === "closed" ? "closing" : "store_unavailable";
    },
    onTrouble(code, error) {
      const suppressed = throttle(code);
      if (suppressed === null) return;
      const cause = error === null ? {} : { cause: codeOf(error), help: helpOf(error) };
      logger.error({ code, suppressed, ...cause }, TROUBLE.get(code) ?? "a delivery could not be taken");
    },
  });

  events.on("rejected", ({ code, status, requestId }) => {
    if (status === 500 || status === 503) return;
    const suppressed = throttle(code);
    if (suppressed !== null) logger.warn({ code, status, requestId, suppressed }, "refused a delivery");
  });
  events.on("accepted", (event) => logger.debug(event, "accepted an event"));
  events.on("duplicate", (event) => logger.debug(event, "acknowledged a duplicate"));
  events.on("conflict", (event) => logger.warn(event, "a known event id came with another body; the first body stays"));
  events.on("quarantined", (event) => logger.warn(event, "kept an authentic but unusable event in quarantine"));
  events.on("verified", (event) => logger.info(event, "answered the verification challenge"));

  function handOff({ event, parsed }: QueuedEvent, attempt: number, abort: LazyAbort): unknown {
    const known = parsed ?? readBack(event);
    const handoff = createHandoff(event, attempt, abort, endpoint, logger);
    if (event.type === "signal.published") return config.onSignal(known as Signal, handoff);
    return event.type === "webhook.test" ? config.onTest?.(known as TestEvent, handoff) : undefined;
  }

  function createObserver(): DispatcherObserver {
    return {
      handedOff({ eventId, type }, attempt) {
        const handedOff = { eventId, type, deliveryKey: deliveryKeyOf(endpoint, eventId), attempt };
        logger.debug(handedOff, "handed an event off");
        events.emit("handedOff", handedOff);
      },
      handoffFailed(event, attempt, { kind, error, nextAttemptAt }) {
        const next = nextAttemptAt === null ? null : new Date(nextAttemptAt);
        // Its message may quote the payload: it is in the inbox, not in the log.
        const line = {
          ...referenceTo(endpoint, event),
          attempt,
          kind,
          errorName: errorName(error),
          nextAttemptAt: next,
        };
        logger.warn(line, "a hand-off failed; `signalbox inbox show` tells why");
        events.emit("handoffFailed", {
          ...referenceTo(endpoint, event),
          attempt,
          error,
          willRetry: next !== null,
          nextAttemptAt: next,
        });
      },
      dead(event, attempt, reason) {
        logger.error(
          { ...referenceTo(endpoint, event), attempt, reason },
          "gave an event up; it waits for replay or discard",
        );
        events.emit("dead", { ...referenceTo(endpoint, event), attempt, reason });
      },
      leaseLost: (event) => logger.warn(referenceTo(endpoint, event), "a lease ran out before its callback came back"),
      breaker: (breaker) => logger.warn({ breaker }, BREAKER_LINES[breaker]),
    };
  }

  async function start(): Promise<void> {
    state = "starting";
    try {
      const { takenOver } = await inbox.open();
      if (!store.durable) logger.warn({ store: store.name }, "this store does not outlive the process");
      logger.info({ endpoint, store: store.name, takenOver }, "receiver started");
      state = "running";
    } catch (error) {
      state = "idle";
      starting = null;
      throw error;
    }
  }

  async function close(graceMs: number): Promise<void> {
    const wasStarted = starting !== null;
    // Our timers keep no process alive, and a callback may wait for nothing that does.
    const keepAlive = setInterval(() => undefined, 2 ** 30);
    await starting?.catch(() => undefined);
    state = "closing";
    pipeline.close();
    try {
      if (wasStarted) await inbox.close(graceMs);
    } finally {
      clearInterval(keepAlive);
    }
    state = "closed";
    if (wasStarted) logger.info({ endpoint }, "receiver closed");
  }

  const receiver: Receiver = {
    start() {
      if (closing !== null) {
        const help = "Make a new one with createReceiver.";
        return Promise.reject(new SignalboxError("receiver_closed", "This receiver was closed.", help));
      }
      return (starting ??= start());
    },
    close: ({ graceMs = DEFAULT_GRACE_MS } = {}) => (closing ??= close(graceMs)),
    [Symbol.asyncDispose]: () => receiver.close(),
    handle: pipeline.handle as Receiver["handle"],
    health: () => ({
      ok: state === "running" && storeFailure === null,
      state,
      endpoint,
      store: { name: store.name, durable: store.durable, shared: store.shared, failure: storeFailure },
      ...deliveries(),
      ...inbox.vitals(),
    }),
    on: events.on,
    inbox: {
      list: inbox.list,
      get: inbox.get,
      replay: inbox.replay,
      discard: inbox.discard,
      stats: inbox.stats,
    },
  };
  return receiver;
}

const TROUBLE = new Map<RejectionCode, string>([
  [
    "body_unavailable",
    "another parser consumed the body, so its signature cannot be checked: mount expressHandler(receiver) before " +
      "express.json(), or use express.json({ verify: captureRawBody })",
  ],
  ["secret_unavailable", "no signing secret could be had from the secret source; the delivery got 503"],
  ["store_unavailable", "the event could not be stored; the delivery got 503"],
]);

const BREAKER_LINES = {
  open: "the callback keeps failing: hand-offs are paused, events are kept",
  closed: "the callback works again: hand-offs go on",
} as const;

/** A stored event whose parsed form is not in memory any more. */
function readBack({ body }: ClaimedEvent): unknown {
  const parsed = parseEvent(body);
  if (parsed.kind === "known") return parsed.event;
  throw new PermanentFailure("This release cannot read the stored event; a newer one may have accepted it.");
}

function codeOf(error: unknown): string {
  return isSignalboxError(error) ? error.code : errorName(error);
}

function helpOf(error: unknown): string | undefined {
  return isSignalboxError(error) ? error.message : undefined;
}
