import { context, metrics, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  AggregationTemporality,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace-base";
import express from "express";
import { expressHandler } from "signalbox/express";
import { openTelemetry } from "signalbox/opentelemetry";
import { PATH } from "./endpoint.js";
import { serveOurs } from "./our-receiver.js";

/** Takes what an exporter takes, and drops it. */
const nowhere = {
  export: (_all: unknown, done: (result: { code: number }) => void): void => done({ code: 0 }),
  forceFlush: async (): Promise<void> => {},
  shutdown: async (): Promise<void> => {},
  selectAggregationTemporality: (): AggregationTemporality => AggregationTemporality.CUMULATIVE,
};

/**
 * As `signalbox-express5`, with telemetry and a real SDK. @param ratio how many of the deliveries
 * are sampled
 */
export async function serveTraced(ratio: number): Promise<void> {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const sampler = new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) });
  const spanProcessors = [new BatchSpanProcessor(nowhere)];
  trace.setGlobalTracerProvider(new BasicTracerProvider({ sampler, spanProcessors }));
  const readers = [
    new PeriodicExportingMetricReader({ exporter: nowhere, exportIntervalMillis: 10_000 }),
  ];
  metrics.setGlobalMeterProvider(new MeterProvider({ readers }));

  await serveOurs((receiver) => express().use(PATH, expressHandler(receiver)), {
    telemetry: openTelemetry(),
  });
}
