import {
  context,
  isSpanContextValid,
  metrics,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Attributes,
  type Context,
  type Link,
  type Span,
  type SpanContext,
} from "@opentelemetry/api";
import { describeError, errorName } from "../../base/errors.js";
import type { Batch, ClaimedEvent } from "../inbox/batch.js";
import { REJECTIONS, type RejectionCode } from "../receiver/rejection.js";
import type {
  DeliveryOutcome,
  HandoffOutcome,
  ObservedDelivery,
  ObservedReceiver,
  Telemetry,
  TelemetryHooks,
} from "../receiver/telemetry.js";
import { headerValue, type RequestHeaders } from "../senders/engine/headers.js";
import { createInstruments } from "./instruments.js";

export type { Telemetry } from "../receiver/telemetry.js";

/**
 * Traces and measures a receiver with the providers that are registered with `@opentelemetry/api`.
 * Register them before `createReceiver`. Each receiver can have its own, or share one.
 *
 * @example
 * const receiver = createReceiver({ secrets, store, onSignal, telemetry: openTelemetry() });
 */
export function openTelemetry(): Telemetry {
  return { observe: (receiver) => guard(observe, receiver.onError)(receiver) ?? null };
}

/** What the SDK throws has no effect on deliveries and hand-offs. */
function guard<Args extends unknown[], Result>(
  hook: (...args: Args) => Result,
  onError: (error: unknown) => void,
) {
  return (...args: Args): Result | undefined => {
    try {
      return hook(...args);
    } catch (error) {
      onError(error);
      return undefined;
    }
  };
}

function observe({
  endpoint,
  sender,
  health,
  logErrors,
  onError,
}: ObservedReceiver): TelemetryHooks {
  const tracer = trace.getTracer("signalbox");
  const instruments = createInstruments(
    metrics.getMeter("signalbox"),
    { endpoint, sender },
    health,
  );
  const receiving = spanKit("receive", { endpoint, sender }, "receive");
  const committing = spanKit("commit", { endpoint, sender });
  const handingOff = spanKit("hand-off", { endpoint, sender }, "process");
  /**
   * `span` is null for a delivery that is not sampled. Not a WeakMap, which would keep the garbage
   * collector busy.
   */
  const attempts = new Map<
    ClaimedEvent,
    { span: Span | null; beganAt: number; endedAt: number | undefined }
  >();

  function receive(headers: RequestHeaders): ObservedDelivery {
    const beganAt = performance.now();
    const cause = parseTraceParent(headerValue(headers, "traceparent"));
    const options = cause === null ? CONSUMER : { ...CONSUMER, links: [{ context: cause }] };
    const span = tracer.startSpan(receiving.name, options);
    let isOver = false;
    function end(outcome: DeliveryOutcome, eventId?: string): void {
      if (isOver) return;
      isOver = true;
      instruments.delivered(outcome, performance.now() - beganAt);
      if (!span.isRecording()) return;
      span.setAttributes(receiving.attributes);
      span.setAttribute("signalbox.outcome", outcome);
      if (eventId !== undefined) span.setAttribute("messaging.message.id", eventId);
      if (Object.hasOwn(REJECTIONS, outcome)) {
        span.setAttribute("error.type", outcome);
        // A 4xx is the sender's mistake: the receiver has done its work.
        if (REJECTIONS[outcome as RejectionCode].status >= 500)
          span.setStatus({ code: SpanStatusCode.ERROR });
      }
      span.end();
    }
    return { traceParent: formatTraceParent(span.spanContext()), end: guard(end, onError) };
  }

  function commit({ accepts, settlements }: Batch): ReturnType<TelemetryHooks["commit"]> {
    if (accepts.length + settlements.length === 0) return undefined;
    const beganAt = performance.now();
    const span = startCommit(accepts);
    return guard((error: unknown, superseded: number) => {
      instruments.superseded(superseded);
      instruments.committed(error === null ? "done" : "failed", performance.now() - beganAt);
      if (error !== null) span?.setStatus({ code: SpanStatusCode.ERROR });
      span?.end();
    }, onError);
  }

  /**
   * In the trace of the first delivery that is sampled, and linked to the others. Without one there
   * is no span.
   */
  function startCommit(accepts: Batch["accepts"]): Span | null {
    const links: Link[] = [];
    for (const { received } of accepts) {
      // The last digit shows most of them, without parsing, that they are not sampled.
      if (received.traceParent?.endsWith("0") === true) continue;
      const delivery = parseTraceParent(received.traceParent);
      if (delivery !== null && isSampled(delivery)) links.push({ context: delivery });
    }
    const [first] = links;
    if (first === undefined) return null;
    const attributes = {
      ...committing.attributes,
      "messaging.batch.message_count": accepts.length,
    };
    const parent = trace.setSpanContext(ROOT_CONTEXT, first.context);
    return tracer.startSpan(committing.name, { attributes, links }, parent);
  }

  /**
   * The callback runs in a turn of some other delivery, of which it inherits nothing. @returns its
   * context
   */
  function startAttempt(event: ClaimedEvent, attempt: number): Context {
    const delivery = parseTraceParent(event.received.traceParent);
    let active =
      delivery === null
        ? ROOT_CONTEXT
        : trace.setSpanContext(ROOT_CONTEXT, { ...delivery, isRemote: true });
    let span: Span | null = null;
    // What follows a delivery that is not sampled is not sampled either.
    if (delivery === null || isSampled(delivery)) {
      const ids = { "messaging.message.id": event.eventId, "signalbox.attempt": attempt };
      span = tracer.startSpan(
        handingOff.name,
        { ...CONSUMER, attributes: { ...handingOff.attributes, ...ids } },
        active,
      );
      active = trace.setSpan(active, span);
    }
    attempts.set(event, { span, beganAt: performance.now(), endedAt: undefined });
    return active;
  }

  function endAttempt(event: ClaimedEvent, outcome: HandoffOutcome, error?: unknown): void {
    const running = attempts.get(event);
    if (running === undefined) return;
    attempts.delete(event);
    const { span, beganAt, endedAt = performance.now() } = running;
    instruments.handedOff(outcome, endedAt - beganAt);
    if (outcome === "done") instruments.finished(event.attempts + 1);
    if (span === null) return;
    span.setAttribute("signalbox.outcome", outcome);
    if (!WITHOUT_ERROR.has(outcome)) {
      const name = errorName(error);
      span.setAttribute("error.type", name);
      span.setStatus({ code: SpanStatusCode.ERROR });
      if (logErrors) span.recordException({ name, stack: describeError(error) }, endedAt);
    }
    span.end(endedAt);
  }

  const startReceive = guard(receive, onError);
  const runAttempt = guard((event: ClaimedEvent, attempt: number, call: () => unknown) => {
    context.with(startAttempt(event, attempt), call);
  }, onError);

  return {
    close: guard(() => {
      attempts.clear();
      instruments.close();
    }, onError),
    receive: (headers) => startReceive(headers) ?? null,
    commit: guard(commit, onError),
    handOff(event, attempt, call) {
      let outcome: Promise<unknown> | undefined;
      const callOnce = (): Promise<unknown> => (outcome ??= promiseOf(call));
      runAttempt(event, attempt, callOnce);
      return callOnce();
    },
    attemptEnded(event) {
      const running = attempts.get(event);
      if (running !== undefined) running.endedAt = performance.now();
    },
    handOffEnded: guard(endAttempt, onError),
    dead: guard((_event, used, reason) => {
      instruments.dead(reason);
      instruments.finished(used);
    }, onError),
  };
}

/** What the callback throws is no failure of the SDK that calls it. */
function promiseOf(call: () => unknown): Promise<unknown> {
  try {
    return Promise.resolve(call());
  } catch (error) {
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- whatever the user's callback threw
    return Promise.reject(error);
  }
}

/** The attributes come later, and only to a span that is recorded. */
const CONSUMER = { kind: SpanKind.CONSUMER };

const WITHOUT_ERROR: ReadonlySet<HandoffOutcome> = new Set<HandoffOutcome>([
  "done",
  "later",
  "lease_lost",
]);

function isSampled({ traceFlags }: SpanContext): boolean {
  return (traceFlags & TraceFlags.SAMPLED) !== 0;
}

/**
 * By the semantic conventions of messaging. `type` is one of theirs; a commit is none of theirs.
 */
function spanKit(
  operation: string,
  { endpoint, sender }: Pick<ObservedReceiver, "endpoint" | "sender">,
  type?: string,
): { name: string; attributes: Attributes } {
  const attributes: Attributes = {
    "messaging.system": "signalbox",
    "messaging.operation.name": operation,
    "messaging.destination.name": endpoint,
  };
  if (sender !== null) attributes["signalbox.sender"] = sender;
  if (type !== undefined) attributes["messaging.operation.type"] = type;
  return { name: `${operation} ${endpoint}`, attributes };
}

/** Ids of zeros alone are not valid. */
const TRACE_PARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** @returns null for a text that is no valid W3C `traceparent` of version 00 */
function parseTraceParent(text: string | undefined): SpanContext | null {
  if (text === undefined || !TRACE_PARENT.test(text)) return null;
  return {
    traceId: text.slice(3, 35),
    spanId: text.slice(36, 52),
    traceFlags: Number.parseInt(text.slice(53), 16),
  };
}

/** @returns null for the context of a span that no SDK has made */
function formatTraceParent(spanContext: SpanContext): string | null {
  if (!isSpanContextValid(spanContext)) return null;
  const { traceId, spanId, traceFlags } = spanContext;
  return `00-${traceId}-${spanId}-${(traceFlags & 0xff).toString(16).padStart(2, "0")}`;
}
