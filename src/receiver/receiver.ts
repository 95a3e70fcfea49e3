import { z } from "zod";
import { safely, SignalboxError } from "../errors.js";
import type { Signal, TestEvent } from "../events/envelope.js";
import { parseEvent } from "../events/parse-event.js";
import type { AbortHandle } from "../inbox/abort-handle.js";
import type { QueuedEvent } from "../inbox/attempts.js";
import type { DispatcherObserver } from "../inbox/dispatcher.js";
import { PermanentFailure } from "../inbox/failures.js";
import { createInbox, type Inbox } from "../inbox/inbox.js";
import type { ClaimedEvent } from "../inbox/store.js";
import { checkOptions } from "../options/option-error.js";
import { LONGEST_DELAY_MS } from "../options/option-schemas.js";
import { createHandoff } from "./create-handoff.js";
import type { DeliveryRequest, DeliveryResponse } from "./delivery.js";
import { watchDeliveries, type ReceiverHealth, type ReceiverState } from "./health.js";
import { resolveOptions, type ReceiverOptions } from "./options.js";
import { createPipeline } from "./pipeline.js";
import { withParts } from "./receiver-parts.js";
import {
  createReceiverEvents,
  deliveryKeyOf,
  referenceTo,
  type ReceiverEventListener,
  type ReceiverEventName,
} from "./receiver-events.js";
import { observeSafely } from "./telemetry.js";
import {
  createLogThrottle,
  createReceiverLog,
  errorCode,
  errorText,
  logEvents,
  logProblem,
  logTrouble,
} from "./receiver-log.js";

/** Accepts deliveries and hands events off. */
export interface Receiver {
  /**
   * Opens the store, takes over the leases of a process that died, and begins to hand off. Idempotent. Until it resolves,
   * every delivery gets 503.
   *
   * @throws SignalboxError `store_in_use`, `store_unsupported`, `store_newer`, `store_corrupt`, `store_failed`,
   * `receiver_closed`
   */
  start(): Promise<void>;
  /**
   * Answers 503 from now on, waits `graceMs` for running callbacks, aborts the rest, and closes the store. Events that were
   * not handed off are handed off after the next start. Idempotent; leaves no timer and no handle behind.
   *
   * @param options `graceMs`: @default 10000. A wrong option is logged and has no effect.
   */
  close(options?: { graceMs?: number | undefined }): Promise<void>;
  /**
   * Waits until what was accepted or due before the call is handed off, for a process that is frozen or ended after its
   * answer. Does not stop the receiver.
   *
   * @param options `timeoutMs`: @default `handoff.timeoutMs` and 5 seconds. A wrong option is logged and has no effect.
   * @returns true when no event that was due at the call is left, the attempts have ended and their results are durable. It
   * does not wait for an event whose next attempt is later, for later deliveries, nor for a callback that goes on after its
   * attempt has timed out. False after `timeoutMs`, when the store refuses a result, while the breaker is open, and for a
   * receiver that does not run
   */
  drain(options?: { timeoutMs?: number | undefined }): Promise<boolean>;
  /** The same as `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
  /**
   * Answers one delivery, for any framework. Never rejects. Bytes are copied, so the caller can use its buffer again
   * immediately.
   *
   * @returns null when the client has closed the connection
   */
  handle(request: DeliveryRequest & { body: Uint8Array }): Promise<DeliveryResponse>;
  /** The same for a body that arrives in pieces. */
  handle(request: DeliveryRequest): Promise<DeliveryResponse | null>;
  /** The current state. With `sqliteStore` this runs one query over an index and reads the sizes of two files. */
  health(): ReceiverHealth;
  /**
   * Calls the listener for each event of this name. The answer is sent after the listener returns, so keep it short.
   *
   * @returns a function that removes the listener
   * @throws SignalboxError `option_unknown` for a name that does not exist, `option_invalid` for a listener that is no function
   */
  on<Name extends ReceiverEventName>(name: Name, listener: ReceiverEventListener<Name>): () => void;
  /** The accepted events of this receiver's endpoint. */
  readonly inbox: Inbox;
}

const DEFAULT_GRACE_MS = 10_000;
/** An attempt that has timed out still needs its commit. */
const DRAIN_MARGIN_MS = 5000;
const waitOption = z.number().min(0).max(LONGEST_DELAY_MS).optional();
const WAIT_OPTIONS = {
  close: { name: "graceMs", schema: z.strictObject({ graceMs: waitOption }).prefault({}) },
  drain: { name: "timeoutMs", schema: z.strictObject({ timeoutMs: waitOption }).prefault({}) },
};

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
export function createReceiver(options: ReceiverOptions): Receiver {
  const config = resolveOptions(options);
  const { clock, endpoint, store } = config;
  const log = createReceiverLog(config.logger, config.logErrors);
  const throttle = createLogThrottle(clock);
  const events = createReceiverEvents((event, error) => log.failure("error", { event }, error, "a listener failed"));
  logEvents(events, log, throttle);
  const deliveries = watchDeliveries(events, clock);

  let state: ReceiverState = "idle";
  let storeFailure: string | null = null;
  let starting: Promise<void> | null = null;
  let closing: Promise<void> | null = null;
  const closed = new AbortController();
  const drainMs = Math.min(config.handoff.timeoutMs + DRAIN_MARGIN_MS, LONGEST_DELAY_MS);

  const telemetry =
    config.telemetry &&
    observeSafely(config.telemetry, { endpoint, health: () => receiver.health() }, config.logErrors, (error) => {
      const suppressed = throttle("telemetry");
      if (suppressed === null) return;
      const fields = { code: errorCode(error), problem: errorText(error), suppressed };
      const text = "telemetry failed: traces and metrics may be missing, deliveries and hand-offs are not affected";
      logProblem(log, "warn", fields, error, text);
    });

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
      const code = failure === null ? null : errorCode(failure);
      if (code !== null && storeFailure === null) {
        const text = "the inbox failed; deliveries get 503, or stored events wait";
        logProblem(log, "error", { code, problem: errorText(failure) }, failure, text);
      }
      if (code === null) log.info({}, "the inbox works again");
      storeFailure = code;
    },
    onCommit: telemetry?.commit,
    onRetentionError: (error) =>
      logProblem(log, "warn", { code: errorCode(error) }, error, "old events could not be pruned"),
  });

  const pipeline = createPipeline({
    ...config,
    inbox,
    events,
    telemetry,
    unavailable() {
      if (state === "running") return null;
      if (state === "closing" || state === "closed") return "closing";
      const suppressed = throttle("not started");
      if (suppressed !== null) {
        log.warn({ state, suppressed }, "start() was not called, or has not resolved; deliveries get 503");
      }
      return "store_unavailable";
    },
    onTrouble: (code, cause) => logTrouble(log, throttle, code, cause),
  });

  function handOff(queued: QueuedEvent, attempt: number, abort: Pick<AbortHandle, "signal">): unknown {
    if (telemetry === null) return callBack(queued, attempt, abort);
    return telemetry.handOff(queued.event, attempt, () => callBack(queued, attempt, abort));
  }

  function callBack({ event, parsed }: QueuedEvent, attempt: number, abort: Pick<AbortHandle, "signal">): unknown {
    const known = parsed ?? parseAgain(event);
    const handoff = createHandoff(event, attempt, abort, endpoint, config.logger, inbox.completeSql);
    if (event.type === "signal.published") return config.onSignal(known as Signal, handoff);
    return event.type === "webhook.test" ? config.onTest?.(known as TestEvent, handoff) : undefined;
  }

  function createObserver(): DispatcherObserver {
    return {
      handedOff(event, attempt) {
        const { eventId, type } = event;
        telemetry?.handedOff(event, attempt);
        // No spread: it would cost each delivery 1 µs.
        events.emit("handedOff", { eventId, type, deliveryKey: deliveryKeyOf(endpoint, eventId), attempt });
      },
      handoffFailed(event, attempt, { kind, error, willRetry, nextAttemptAt: at }) {
        telemetry?.handoffFailed(event, attempt, kind, error);
        const failure = {
          ...referenceTo(endpoint, event),
          attempt,
          nextAttemptAt: at === null ? null : new Date(at),
        };
        log.failure("warn", { ...failure, kind }, error, "a hand-off failed; `signalbox inbox show` prints the error");
        events.emit("handoffFailed", { ...failure, error, willRetry });
      },
      backoffFailed: (error) => log.failure("warn", {}, error, "handoff.backoff failed; the delay is 60 seconds"),
      dead(event, attempt, reason) {
        telemetry?.dead(event, attempt, reason);
        events.emit("dead", { ...referenceTo(endpoint, event), attempt, reason });
      },
      leaseLost(event) {
        telemetry?.leaseLost(event);
        log.warn(referenceTo(endpoint, event), "a lease expired before its callback ended");
      },
      notSettled: (event) => telemetry?.leaseLost(event),
      breaker: (breaker) => log.warn({ breaker }, BREAKER_LINES[breaker]),
      leases: (leases) => log.warn({ leases }, LEASES_LINES[leases]),
    };
  }

  async function start(): Promise<void> {
    state = "starting";
    try {
      const { takenOver } = await inbox.open();
      if (!store.durable) log.warn({ store: store.name }, "this store loses its events when the process ends");
      log.info({ endpoint, store: store.name, takenOver }, "receiver started");
      state = "running";
    } catch (error) {
      state = "idle";
      starting = null;
      throw error;
    }
  }

  /** Refuses nothing, because a refused `close` or `drain` would not wait for the callbacks when the process ends. */
  function waitMsOf(method: "close" | "drain", given: unknown, defaultMs: number): number {
    const { name, schema } = WAIT_OPTIONS[method];
    const valueOf = (from: unknown) => Reflect.get(from as object, name) as number | undefined;
    try {
      return valueOf(checkOptions<z.ZodType>(`receiver.${method}`, schema, given)) ?? defaultMs;
    } catch (error) {
      log.warn({ code: errorCode(error), problem: errorText(error) }, `${method}() ignores a wrong option`);
      return safely(() => waitOption.parse(valueOf(given)), undefined) ?? defaultMs;
    }
  }

  async function close(graceMs: number): Promise<void> {
    const wasStarted = starting !== null;
    try {
      await starting?.catch(() => undefined);
      state = "closing";
      closed.abort();
      pipeline.close();
      if (wasStarted) await inbox.close(graceMs);
    } finally {
      telemetry?.close();
      await config.secrets.close().catch((error: unknown) => {
        log.warn({ code: errorCode(error) }, "the secret source could not be closed");
      });
      state = "closed";
    }
    if (wasStarted) log.info({ endpoint }, "receiver closed");
  }

  const receiver: Receiver = {
    start() {
      if (closing !== null) {
        const help = "Make a new one with createReceiver.";
        return Promise.reject(new SignalboxError("receiver_closed", "This receiver was closed.", help));
      }
      return (starting ??= start());
    },
    close: (closeOptions) => (closing ??= keepingAlive(close(waitMsOf("close", closeOptions, DEFAULT_GRACE_MS)))),
    drain: (drainOptions) => keepingAlive(inbox.drain(waitMsOf("drain", drainOptions, drainMs))),
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
      search: inbox.search,
      activity: inbox.activity,
      get: inbox.get,
      replay: inbox.replay,
      discard: inbox.discard,
      stats: inbox.stats,
    },
  };
  return withParts(receiver, { endpoint, clock, log, closing: closed.signal });
}

const LEASES_LINES = {
  unsure: "heartbeats to the inbox fail, so other processes may take over; hand-offs are paused, events are kept",
  sure: "heartbeats to the inbox work again; hand-offs continue",
};

const BREAKER_LINES = {
  open: "the callback keeps failing; hand-offs are paused, events are kept",
  closed: "the callback works again; hand-offs continue",
} as const;

/** The receiver's timers do not keep the process alive, but it must live until the callbacks have ended. */
async function keepingAlive<Result>(work: Promise<Result>): Promise<Result> {
  const timer = setInterval(() => undefined, 2 ** 30);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}

/** Parses an event that was read from the store. */
function parseAgain({ body }: ClaimedEvent): unknown {
  const parsed = parseEvent(body);
  if (parsed.kind === "known") return parsed.event;
  throw new PermanentFailure(
    "This version of signalbox cannot read the stored event; a newer version may have accepted it.",
  );
}
