import { createServer } from "node:http";
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
import { expect, onTestFinished, test } from "vitest";
import type { InboxStore, ReceiverOptions } from "../../../../src/kit/index.js";
import { nodeHandler } from "../../../../src/kit/receiver/adapters/node-handler.js";
import type { Telemetry, TelemetryHooks } from "../../../../src/kit/receiver/telemetry.js";
import { memoryStore } from "../../../../src/kit/stores/memory.js";
import { openTelemetry } from "../../../../src/kit/telemetry/open-telemetry.js";
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
  const server = createServer((request, response) => {
    const span = tracer.startSpan("POST /webhooks", {}, ROOT_CONTEXT);
    response.once("finish", () => span.end());
    context.with(trace.setSpan(ROOT_CONTEXT, span), () => handle(request, response));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };

  const sender = tracer.startSpan("send", {}, ROOT_CONTEXT);
  const { traceId, spanId } = sender.spanContext();
  const delivery = rig.signed();
  const headers = {
    ...delivery.headers,
    traceparent: `00-${traceId}-${spanId}-01`,
    connection: "close",
  };
  const answer = await fetch(`http://127.0.0.1:${port}`, {
    method: "POST",
    headers,
    body: delivery.body,
  });
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
  const spans = names.map((name) => sdk.span(name)) as [
    ReadableSpan,
    ReadableSpan,
    ReadableSpan,
    ReadableSpan,
  ];
  const [http, receive, commit, handOff] = spans;
  expect(spans.map(parentOf)).toEqual(
    [undefined, http, receive, receive, handOff].map((span) => span && idOf(span)),
  );
  expect([linksOf(receive), linksOf(commit)]).toEqual([[sender.spanId], [idOf(receive)]]);
  const traces = new Set(spans.map((span) => span.spanContext().traceId));
  expect([...traces]).toEqual([http.spanContext().traceId]);
  expect(traces).not.toContain(sender.traceId);

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

test("a refused delivery has no id of its event, and a forged one is no error of the receiver", async () => {
  const sdk = registerSdk();
  const rig = await startTraced();
  await rig.receiver.handle({ ...rig.signed(), body: Buffer.from("{}") });
  const { attributes, status } = sdk.span("receive default");
  expect(attributes).toMatchObject({
    "error.type": "signature_mismatch",
    "signalbox.outcome": "signature_mismatch",
  });
  expect([attributes["messaging.message.id"], status.code]).toEqual([
    undefined,
    SpanStatusCode.UNSET,
  ]);
});

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
  expect(counted.map(({ attributes, value }) => [attributes["signalbox.outcome"], value])).toEqual([
    ["ack_timeout", 1],
  ]);
  expect(sdk.span("receive default").attributes["signalbox.outcome"]).toBe("ack_timeout");

  store.fail(mediumError());
  await deliver(rig);
  const commits = sdk.spans().filter(({ name }) => name === "commit default");
  expect(commits.map(({ status }) => status.code)).toEqual([
    SpanStatusCode.UNSET,
    SpanStatusCode.ERROR,
  ]);
});

test("the span of a delivery ends when its client goes", async () => {
  const sdk = registerSdk();
  const rig = await startTraced();
  const body = (async function* () {
    yield* [];
    throw new Error("reset");
  })();
  expect(await rig.receiver.handle({ ...rig.signed(), body })).toBeNull();
  expect(sdk.span("receive default").attributes["signalbox.outcome"]).toBe("client_gone");
});

test("the span of an attempt ends when its lease is lost", async () => {
  const sdk = registerSdk();
  const store = memoryStore();
  const commit: InboxStore["commit"] = async (batch) => {
    const result = await store.commit(batch);
    return { ...result, settlements: batch.settlements.map(() => false) };
  };
  const rig = await startTraced({ store: { ...store, commit } });
  await deliver(rig);
  await until(() => sdk.spans().some(({ name }) => name === "hand-off default"));
  expect(sdk.span("hand-off default").attributes["signalbox.outcome"]).toBe("lease_lost");
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

test("a hand-off inherits nothing from the delivery in whose turn it begins", async () => {
  const sdk = registerSdk();
  const key = createContextKey("of the host");
  const inherited: unknown[] = [];
  const withoutTraceParent: Telemetry = {
    observe(receiver) {
      const hooks = openTelemetry().observe(receiver);
      if (hooks === null) return null;
      const receive: TelemetryHooks["receive"] = (headers) => {
        const delivery = hooks.receive(headers);
        return delivery && { ...delivery, traceParent: null };
      };
      return { ...hooks, receive };
    },
  };
  for (const telemetry of [openTelemetry(), withoutTraceParent]) {
    const onSignal = (): void => void inherited.push(context.active().getValue(key));
    const rig = await startTraced({ telemetry, onSignal });
    const host = trace
      .setSpan(ROOT_CONTEXT, trace.getTracer("app").startSpan("host"))
      .setValue(key, "host");
    await context.with(host, () => deliver(rig));
    await until(() => rig.namesSeen().includes("handedOff"));
  }
  const handOffs = sdk.spans().filter(({ name }) => name === "hand-off default");
  const receive = sdk.spans().find(({ name }) => name === "receive default");
  expect(handOffs.map(parentOf)).toEqual([idOf(receive as ReadableSpan), undefined]);
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
