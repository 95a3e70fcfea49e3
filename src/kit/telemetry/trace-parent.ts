import { isSpanContextValid, type SpanContext } from "@opentelemetry/api";

/** Ids of zeros alone are not valid. */
const TRACE_PARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** @returns null for a text that is no valid W3C `traceparent` of version 00 */
export function parseTraceParent(text: string | undefined): SpanContext | null {
  if (text === undefined || !TRACE_PARENT.test(text)) return null;
  return {
    traceId: text.slice(3, 35),
    spanId: text.slice(36, 52),
    traceFlags: Number.parseInt(text.slice(53), 16),
  };
}

/** @returns null for the context of a span that no SDK has made */
export function formatTraceParent(spanContext: SpanContext): string | null {
  if (!isSpanContextValid(spanContext)) return null;
  const { traceId, spanId, traceFlags } = spanContext;
  return `00-${traceId}-${spanId}-${(traceFlags & 0xff).toString(16).padStart(2, "0")}`;
}
