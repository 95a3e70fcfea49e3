import {
  context,
  INVALID_SPAN_CONTEXT,
  metrics,
  ROOT_CONTEXT,
  trace,
  type ContextManager,
  type Meter,
  type Span,
  type Tracer,
} from "@opentelemetry/api";
import { expect, onTestFinished, test } from "vitest";
import type { ReceiverEventName } from "../../../../src/kit/index.js";
import { openTelemetry } from "../../../../src/kit/telemetry/open-telemetry.js";
import { logLines } from "../../../http/log-lines.js";
import { until } from "../../until.js";
import { startRig } from "../inbox/receiver-rig.js";
import { registerSdk } from "./register-sdk.js";

const fail = (): never => {
  throw new Error("the SDK is broken");
};

const BROKEN_INSTRUMENT = { add: fail, record: fail, addCallback: fail, removeCallback: fail };

interface Sdk {
  getTracer: () => Tracer;
  startSpan: () => Span;
  getMeter: () => Meter;
  with: (call: () => unknown) => unknown;
}

/** An SDK that does nothing, but for this. */
function registerBroken(broken: Partial<Sdk>): void {
  const startSpan = broken.startSpan ?? (() => trace.wrapSpanContext(INVALID_SPAN_CONTEXT));
  const noopMeter = metrics.getMeter("none");
  trace.setGlobalTracerProvider({
    getTracer: broken.getTracer ?? (() => ({ startSpan }) as unknown as Tracer),
  });
  metrics.setGlobalMeterProvider({ getMeter: broken.getMeter ?? (() => noopMeter) });
  const run: Sdk["with"] = broken.with ?? ((call) => call());
  const manager = {
    active: () => ROOT_CONTEXT,
    with: (_active: unknown, call: () => unknown) => run(call),
    disable() {},
  };
  context.setGlobalContextManager(manager as unknown as ContextManager);
  onTestFinished(() => {
    for (const api of [context, trace, metrics]) api.disable();
  });
}

const brokenSpan = (): Span =>
  new Proxy({} as Span, {
    get: (_span, name) =>
      name === "spanContext"
        ? () => ({ traceId: "a".repeat(32), spanId: "b".repeat(16), traceFlags: 1 })
        : fail,
  });

function brokenMeter(): Meter {
  const made = () => BROKEN_INSTRUMENT;
  return new Proxy({} as Meter, {
    get: (_meter, name) => (String(name).startsWith("create") ? made : fail),
  });
}

const SDKS: readonly [string, Partial<Sdk>][] = [
  ["when the receiver is made", { getTracer: fail }],
  ["when an instrument is made", { getMeter: fail }],
  ["in its instruments", { getMeter: brokenMeter }],
  ["when a span starts", { startSpan: fail }],
  ["in a span", { startSpan: brokenSpan }],
  ["before it calls", { with: fail }],
  [
    "after it has called twice",
    {
      with(call) {
        void call();
        void call();
        fail();
      },
    },
  ],
];

test.each(SDKS)(
  "an SDK that throws %s is logged, and has no effect on deliveries and hand-offs",
  async (_when, sdk) => {
    registerBroken(sdk);
    const { logger, lines } = logLines();
    const rig = await startRig({
      telemetry: openTelemetry(),
      logger,
      handoff: { maxAttempts: 2, backoff: () => 0 },
    });
    const heard = (name: ReceiverEventName) => until(() => rig.namesSeen().includes(name));
    expect(await rig.receiver.handle(null as never)).toMatchObject({ status: 503 });
    const [first, second] = await rig.begin(2);
    rig.calls[0]?.resolve();
    rig.calls[1]?.reject();
    await heard("handedOff");
    await heard("handoffFailed");
    await rig.clock.advance(1000);
    await until(() => rig.calls.length === 3);
    rig.calls[2]?.reject();
    await heard("dead");
    expect(await rig.entry(first.id)).toMatchObject({ state: "done", attempts: 1 });
    expect(await rig.entry(second!.id)).toMatchObject({ state: "dead", attempts: 2 });
    await rig.receiver.close();
    const logged = lines.filter((line) => line.includes("telemetry failed"));
    expect(logged.length).toBeOneOf([1, 2]);
    for (const line of logged) expect(line).toMatch(/"level":40.*the SDK is broken/);
  },
);

test("the failure of a callback is no failure of the SDK", async () => {
  registerSdk();
  const { logger, lines } = logLines();
  const onSignal = (): void => {
    throw new Error("no queue");
  };
  const rig = await startRig({ telemetry: openTelemetry(), logger, onSignal });
  await rig.deliver();
  await until(() => rig.namesSeen().includes("handoffFailed"));
  expect(lines.join("")).not.toContain("telemetry failed");
});
