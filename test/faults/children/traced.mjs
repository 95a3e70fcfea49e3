// Telemetry of a receiver that writes each ended span into a file at once, since that survives kill
// -9.
import { appendFileSync } from "node:fs";
import { context, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { BasicTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { openTelemetry } from "signalbox/opentelemetry";

export function tracedInto(file) {
  const exporter = {
    export(spans, done) {
      for (const span of spans) appendFileSync(file, `${JSON.stringify(lineOf(span))}\n`);
      done({ code: 0 });
    },
    shutdown: async () => {},
  };
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(
    new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
  );
  return openTelemetry();
}

function lineOf(span) {
  const { traceId, spanId } = span.spanContext();
  return { name: span.name, traceId, spanId, parentId: span.parentSpanContext?.spanId ?? null };
}

/** A span of the user's own. */
export function ownSpan() {
  trace.getTracer("app").startSpan("own").end();
}
