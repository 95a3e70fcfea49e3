import {
  context,
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
import { headerValue } from "../receiver/delivery.js";
import { REJECTIONS, type RejectionCode } from "../receiver/rejection.js";
import type {
  DeliveryOutcome,
  ObservedDelivery,
  ObservedReceiver,
  Telemetry,
  TelemetryHooks,
} from "../receiver/telemetry.js";
import type { ClaimedEvent } from "../inbox/store.js";
import { createInstruments } from "./instruments.js";
import { formatTraceParent, parseTraceParent } from "./trace-parent.js";

export type { Telemetry } from "../receiver/telemetry.js";

/**
 * Traces and measures a receiver with the providers that are registered with `@opentelemetry/api`. Register them before
 * `createReceiver`. Each receiver can have its own, or share one.
 *
 * @example
 * const receiver = createReceiver({ secrets, store, onSignal, telemetry: openTelemetry() });
 */
export function openTelemetry(): Telemetry {
  return { observe };
}

interface RunningAttempt {
  span: Span;
  beganAt: number;
  /** When the callback settled. An attempt that timed out may have none. */
  endedAt: number | undefined;
}

function observe({ endpoint, health }: ObservedReceiver): TelemetryHooks {
  const tracer = trace.getTracer("signalbox");
  const instruments = createInstruments(metrics.getMeter("signalbox"), endpoint, health);
  const receiving = spanKit("receive", endpoint, "receive");
  const committing = spanKit("commit", endpoint);
  const handingOff = spanKit("hand-off", endpoint, "process");
  /** Not a WeakMap, which would keep the garbage collector busy. */
  const attempts = new Map<ClaimedEvent, RunningAttempt>();

  function receive(headers: Parameters<TelemetryHooks["receive"]>[0]): ObservedDelivery {
    const beganAt = performance.now();
    const sender = parseTraceParent(headerValue(headers, "traceparent"));
    const options = sender === null ? CONSUMER : { ...CONSUMER, links: [{ context: sender }] };
    const span = tracer.startSpan(receiving.name, options);
    let isOver = false;
    return {
      traceParent: formatTraceParent(span.spanContext()),
      end(outcome, eventId) {
        if (isOver) return;
        isOver = true;
        instruments.delivered(outcome, performance.now() - beganAt);
        if (!span.isRecording()) return;
        span.setAttributes(receiving.attributes);
        describeDelivery(span, outcome, eventId);
        span.end();
      },
    };
  }

  /** In the trace of the first delivery that is sampled, and linked to the others. Without one there is no span. */
  function startCommit(traceParents: readonly (string | undefined)[]): Span | null {
    const links: Link[] = [];
    for (const traceParent of traceParents) {
      // The last digit shows most of them, without parsing, that they are not sampled.
      const delivery = traceParent?.endsWith("0") === true ? null : parseTraceParent(traceParent);
      if (delivery !== null && isSampled(delivery)) links.push({ context: delivery });
    }
    const [first] = links;
    if (first === undefined) return null;
    const attributes = { ...committing.attributes, "messaging.batch.message_count": traceParents.length };
    const parent = trace.setSpanContext(ROOT_CONTEXT, first.context);
    return tracer.startSpan(committing.name, { attributes, links }, parent);
  }

  return {
    close() {
      instruments.close();
      attempts.clear();
    },
    receive,
    commit({ accepts, settlements }) {
      if (accepts.length + settlements.length === 0) return ignore;
      const beganAt = performance.now();
      const span = startCommit(accepts.map(({ received }) => received.traceParent));
      return (error) => {
        instruments.committed(error === null, performance.now() - beganAt);
        if (span === null) return;
        if (error !== null) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      };
    },
    handOff(event, attempt, call) {
      const parent = parentOf(event);
      const delivery = trace.getSpan(parent);
      // What follows a delivery that is not sampled is not sampled either.
      const isTraced = delivery === undefined || isSampled(delivery.spanContext());
      const span = isTraced ? tracer.startSpan(handingOff.name, CONSUMER, parent) : delivery;
      const active = isTraced ? trace.setSpan(parent, span) : parent;
      if (span.isRecording()) {
        span.setAttributes(handingOff.attributes);
        span.setAttribute("messaging.message.id", event.eventId);
        span.setAttribute("signalbox.attempt", attempt);
      }
      const running: RunningAttempt = { span, beganAt: performance.now(), endedAt: undefined };
      attempts.set(event, running);
      const settled = (): void => {
        running.endedAt = performance.now();
      };
      context.with(active, call).then(settled, settled);
    },
    handOffEnded(event, attempt, outcome, failure) {
      const running = attempts.get(event);
      if (running === undefined) return;
      attempts.delete(event);
      const { span, beganAt, endedAt = performance.now() } = running;
      instruments.handedOff(outcome, endedAt - beganAt);
      if (outcome === "done") instruments.finished(attempt);
      if (!span.isRecording()) return;
      span.setAttribute("signalbox.outcome", outcome);
      if (failure !== null && outcome !== "later") {
        const { name, description } = failure;
        span.setAttribute("error.type", name);
        span.setStatus({ code: SpanStatusCode.ERROR });
        if (description !== null) span.recordException({ name, stack: description }, endedAt);
      }
      span.end(endedAt);
    },
    dead(_event, used, reason) {
      instruments.dead(reason);
      instruments.finished(used);
    },
  };
}

/** The callback runs in a turn of some other delivery, of which it inherits nothing. */
function parentOf({ traceParent }: ClaimedEvent): Context {
  const kept = parseTraceParent(traceParent ?? undefined);
  return kept === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, { ...kept, isRemote: true });
}

function describeDelivery(span: Span, outcome: DeliveryOutcome, eventId: string | undefined): void {
  span.setAttribute("signalbox.outcome", outcome);
  if (eventId !== undefined) span.setAttribute("messaging.message.id", eventId);
  if (!isRejection(outcome)) return;
  span.setAttribute("error.type", outcome);
  // A 4xx is the sender's mistake: the receiver has done its work.
  if (REJECTIONS[outcome].status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
}

function isRejection(outcome: DeliveryOutcome): outcome is RejectionCode {
  return Object.hasOwn(REJECTIONS, outcome);
}

/** The attributes come later, and only to a span that is recorded. */
const CONSUMER = { kind: SpanKind.CONSUMER };

function isSampled({ traceFlags }: SpanContext): boolean {
  return (traceFlags & TraceFlags.SAMPLED) !== 0;
}

/** By the semantic conventions of messaging. `type` is one of theirs; a commit is none of theirs. */
function spanKit(operation: string, endpoint: string, type?: string): { name: string; attributes: Attributes } {
  const attributes: Attributes = {
    "messaging.system": "signalbox",
    "messaging.operation.name": operation,
    "messaging.destination.name": endpoint,
  };
  if (type !== undefined) attributes["messaging.operation.type"] = type;
  return { name: `${operation} ${endpoint}`, attributes };
}

function ignore(): void {}
