import {
  context,
  createContextKey,
  ROOT_CONTEXT,
  SpanStatusCode,
  trace,
  type SpanContext,
} from "@opentelemetry/api";
import {
  TraceIdRatioBasedSampler,
  ParentBasedSampler,
  type ReadableSpan,
} from "@opentelemetry/sdk-trace-base";
import { expect, test } from "vitest";
import type { ReceiverOptions } from "../../../../src/kit/index.js";
import { nodeHandler } from "../../../../src/kit/receiver/adapters/node-handler.js";
import type { Telemetry, TelemetryHooks } from "../../../../src/kit/receiver/telemetry.js";
import { openTelemetry } from "../../../../src/kit/telemetry/open-telemetry.js";
import { listen } from "../../../http/serve.js";
import { exchange } from "../../../http/wire.js";
import { turns, until } from "../../until.js";
import { faultyStore, mediumError } from "../inbox/faulty-store.js";
import { startRig, type Rig } from "../inbox/receiver-rig.js";
import { registerSdk } from "./register-sdk.js";

const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const SPAN_ID = "b7ad6b7169203331";

function startTraced(options: Partial<ReceiverOptions> = {}): Promise<Rig> {
  return startRig({ telemetry: openTelemetry(), onSignal: () => {}, ...options });
}

function deliver({ receiver, signed }: Rig, headers: Record<string, string> = {}) {
  const delivery = signed();
  return receiver.handle({ ...delivery, headers: { ...delivery.headers, ...headers } });
}

const parentOf = (span: ReadableSpan): string | undefined => span.parentSpanContext?.spanId;
const idOf = (span: ReadableSpan): string => span.spanContext().spanId;
const linksOf = (span: ReadableSpan): string[] => span.links.map((link) => link.context.spanId);

/**
 * A host that makes a span of each request, and a service that makes one of each delivery that it
 * sends.
 */
async function sendThroughHost(rig: Rig): Promise<SpanContext> {
  const tracer = trace.getTracer("app");
  const handle = nodeHandler(rig.receiver);
  const port = await listen((request, response) => {
    const span = tracer.startSpan("POST /webhooks", {}, ROOT_CONTEXT);
    response.once("finish", () => span.end());
    context.with(trace.setSpan(ROOT_CONTEXT, span), () => handle(request, response));
  });
  const sender = tracer.startSpan("send", {}, ROOT_CONTEXT);
  const { traceId, spanId } = sender.spanContext();
  const { headers, body } = rig.signed();
  const traceparent = `00-${traceId}-${spanId}-01`;
  const answer = await exchange(port, { headers: { ...headers, traceparent }, body });
  expect(answer.status).toBe(200);
  sender.end();
  return sender.spanContext();
}

test("one trace, from the host's span to the user's own span in onSignal, linked to the sender's", async () => {
  const sdk = registerSdk();
  const rig = await startTraced({
    onSignal: () => trace.getTracer("app").startSpan("charge").end(),
  });
  const sender = await sendThroughHost(rig);
  await until(() => sdk.spans().length === 6);

  const names = [
    "POST /webhooks",
    "receive default",
    "commit default",
    "hand-off default",
    "charge",
  ];
  const spans = names.map((name) => sdk.span(name));
  const [http, receive, commit, handOff] = spans as [
    ReadableSpan,
    ReadableSpan,
    ReadableSpan,
    ReadableSpan,
  ];
  expect(spans.map(parentOf)).toEqual(
    [undefined, http, receive, receive, handOff].map((span) => span && idOf(span)),
  );
  expect([linksOf(receive), linksOf(commit)]).toEqual([[sender.spanId], [idOf(receive)]]);
  const { traceId } = http.spanContext();
  expect(spans.map((span) => span.spanContext().traceId)).toEqual(Array(5).fill(traceId));
  expect(sender.traceId).not.toBe(traceId);

  const [entry] = await rig.entries();
  expect(receive.attributes).toEqual({
    "messaging.system": "signalbox",
    "messaging.operation.name": "receive",
    "messaging.operation.type": "receive",
    "messaging.destination.name": "default",
    "messaging.message.id": entry?.eventId,
    "signalbox.outcome": "accepted",
  });
  expect(commit.attributes).toMatchObject({ "messaging.batch.message_count": 1 });
  expect(handOff.attributes).toMatchObject({
    "messaging.operation.type": "process",
    "signalbox.attempt": 1,
  });
});

test.each([true, false])(
  "each attempt is a span of the delivery's trace, with the error of the callback or its name alone: logErrors %s",
  async (logErrors) => {
    const sdk = registerSdk();
    let failures = 1;
    const onSignal = (): void => {
      if (failures-- > 0) throw new TypeError("no queue");
    };
    const rig = await startTraced({ onSignal, logErrors, handoff: { backoff: () => 0 } });
    await deliver(rig);
    await until(() => rig.namesSeen().includes("handoffFailed"));
    await rig.clock.advance(1000);
    await until(() => rig.namesSeen().includes("handedOff"));
    const handOffs = sdk.spans().filter(({ name }) => name === "hand-off default");
    const receive = idOf(sdk.span("receive default"));
    expect(handOffs.map(parentOf)).toEqual([receive, receive]);
    const [failed, done] = handOffs;
    expect(failed?.status.code).toBe(SpanStatusCode.ERROR);
    expect(failed?.attributes).toMatchObject({
      "error.type": "TypeError",
      "signalbox.outcome": "rejected",
    });
    const told = failed?.events.map(({ attributes }) => attributes?.["exception.stacktrace"]);
    expect(told).toEqual(logErrors ? [expect.stringContaining("no queue")] : []);
    expect(done?.attributes).toMatchObject({ "signalbox.attempt": 2, "signalbox.outcome": "done" });
  },
);

test.each([
  ["a sound one", `00-${TRACE_ID}-${SPAN_ID}-01`, [SPAN_ID]],
  ["another version", `01-${TRACE_ID}-${SPAN_ID}-01`, []],
  ["no trace", `00-${"0".repeat(32)}-${SPAN_ID}-01`, []],
  ["two", `00-${TRACE_ID}-${SPAN_ID}-01, 00-${TRACE_ID}-${SPAN_ID}-01`, []],
  ["a text", "'; DROP TABLE inbox; --", []],
])(
  "the sender's traceparent is a link at most, never a parent: %s",
  async (_name, traceparent, links) => {
    const sdk = registerSdk();
    const rig = await startTraced();
    expect(await deliver(rig, { traceparent })).toMatchObject({ status: 200 });
    const receive = sdk.span("receive default");
    expect(linksOf(receive)).toEqual(links);
    expect(parentOf(receive)).toBeUndefined();
    expect(receive.spanContext().traceId).not.toBe(TRACE_ID);
    expect(JSON.stringify(receive.attributes)).not.toContain(traceparent);
  },
);

test("a delivery that is stored after its refusal counts once; a commit that fails is an error", async () => {
  const sdk = registerSdk();
  const store = faultyStore();
  const rig = await startTraced({ store, ackTimeoutMs: 3000 });
  const release = store.hold();
  const answer = deliver(rig);
  await rig.clock.advance(3000);
  await answer;
  release();
  await until(() => rig.namesSeen().includes("handedOff"));
  const counted = (await sdk.points("signalbox.deliveries")).filter(({ value }) => value !== 0);
  expect(counted).toMatchObject([{ attributes: { "signalbox.outcome": "ack_timeout" }, value: 1 }]);
  expect(sdk.outcome("receive default")).toBe("ack_timeout");

  store.fail(mediumError());
  await deliver(rig);
  const commits = sdk.spans().filter(({ name }) => name === "commit default");
  expect(commits.map(({ status }) => status.code)).toEqual([
    SpanStatusCode.UNSET,
    SpanStatusCode.ERROR,
  ]);
});

const CUT = { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error("reset")) }) };

test.each([
  ["signature_mismatch", Buffer.from("{}")],
  ["client_gone", CUT],
])("a delivery that ends as %s has no id of its event, and is no error", async (outcome, body) => {
  const sdk = registerSdk();
  const { receiver, signed } = await startTraced();
  await receiver.handle({ ...signed(), body });
  const { attributes, status } = sdk.span("receive default");
  expect(attributes["signalbox.outcome"]).toBe(outcome);
  expect(attributes["error.type"]).toBe(outcome === "client_gone" ? undefined : outcome);
  expect(attributes).not.toHaveProperty(["messaging.message.id"]);
  expect(status.code).toBe(SpanStatusCode.UNSET);
});

test("the span of an attempt ends with its callback, not with the commit of its result", async () => {
  const sdk = registerSdk();
  const store = faultyStore();
  const rig = await startRig({ telemetry: openTelemetry(), store });
  await rig.begin(1);
  const release = store.hold();
  rig.calls[0]?.resolve();
  await turns();
  const settledBy = performance.timeOrigin + performance.now();
  // So that a span which ends with the commit ends clearly later.
  while (performance.timeOrigin + performance.now() < settledBy + 20);
  release();
  await until(() => rig.namesSeen().includes("handedOff"));
  const [seconds, nanoseconds] = sdk.span("hand-off default").endTime;
  expect(seconds * 1000 + nanoseconds / 1e6).toBeLessThanOrEqual(settledBy);
});

test("a hand-off inherits nothing from the delivery in whose turn it begins, with a telemetry of the user's own either", async () => {
  const sdk = registerSdk();
  const key = createContextKey("of the host");
  const inherited: unknown[] = [];
  const withoutTraceParent: Telemetry = {
    observe(receiver) {
      const hooks = openTelemetry().observe(receiver);
      const receive: TelemetryHooks["receive"] = (headers) => {
        const delivery = hooks!.receive(headers);
        return delivery && { ...delivery, traceParent: null };
      };
      return hooks && { ...hooks, receive };
    },
  };
  for (const telemetry of [openTelemetry(), withoutTraceParent]) {
    const onSignal = (): void => void inherited.push(context.active().getValue(key));
    const rig = await startTraced({ telemetry, onSignal });
    const span = trace.getTracer("app").startSpan("host");
    await context.with(trace.setSpan(ROOT_CONTEXT, span).setValue(key, "host"), () => deliver(rig));
    await until(() => rig.namesSeen().includes("handedOff"));
  }
  const [handOff, other] = sdk.spans().filter(({ name }) => name === "hand-off default");
  const receive = sdk.spans().find(({ name }) => name === "receive default");
  expect(parentOf(handOff!)).toBe(idOf(receive!));
  expect(parentOf(other!)).toBeUndefined();
  expect(inherited).toEqual([undefined, undefined]);
});

test("a delivery that is not sampled makes no span, not even of its commit and its hand-off", async () => {
  const sdk = registerSdk(new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(0) }));
  const rig = await startTraced({
    onSignal: () => trace.getTracer("app").startSpan("charge").end(),
  });
  await deliver(rig);
  await until(() => rig.namesSeen().includes("handedOff"));
  expect(sdk.spans()).toEqual([]);
});
