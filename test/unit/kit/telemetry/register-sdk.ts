import { context, metrics, trace, type Attributes } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  MeterProvider,
  MetricReader,
  type DataPoint,
  type Histogram,
} from "@opentelemetry/sdk-metrics";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
  type Sampler,
} from "@opentelemetry/sdk-trace-base";
import { onTestFinished } from "vitest";

export interface Sdk {
  /** The ended spans. */
  spans(): ReadableSpan[];
  /** The only ended span of this name. */
  span(name: string): ReadableSpan;
  /** That of the only ended span of this name. */
  outcome(name: string): unknown;
  points(metric: string): Promise<{ attributes: Attributes; value: number | Histogram }[]>;
}

/** Registers a real SDK for one test. */
export function registerSdk(sampler?: Sampler): Sdk {
  const exporter = new InMemorySpanExporter();
  const spanProcessors = [new SimpleSpanProcessor(exporter)];
  const reader = new ReaderOnDemand();
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(
    new BasicTracerProvider({ spanProcessors, ...(sampler && { sampler }) }),
  );
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
  onTestFinished(() => {
    for (const api of [context, trace, metrics]) api.disable();
  });
  const spanOf = (name: string): ReadableSpan => {
    const found = exporter.getFinishedSpans().filter((span) => span.name === name);
    if (found.length !== 1) throw new Error(`${found.length} spans are named ${name}`);
    return found[0] as ReadableSpan;
  };
  return {
    spans: () => exporter.getFinishedSpans(),
    span: spanOf,
    outcome: (name) => spanOf(name).attributes["signalbox.outcome"],
    async points(metric) {
      const { resourceMetrics } = await reader.collect();
      const found = resourceMetrics.scopeMetrics
        .flatMap((scope) => scope.metrics)
        .filter(({ descriptor }) => descriptor.name === metric);
      return found.flatMap(({ dataPoints }) => dataPoints as DataPoint<number | Histogram>[]);
    },
  };
}

class ReaderOnDemand extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}
