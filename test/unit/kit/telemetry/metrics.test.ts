import type { Histogram } from "@opentelemetry/sdk-metrics";
import { expect, test } from "vitest";
import { systemClock } from "../../../../src/base/time/clock.js";
import { createReceiver, PermanentFailure, type SignalEvent } from "../../../../src/kit/index.js";
import { memoryStore } from "../../../../src/kit/stores/memory.js";
import { openTelemetry } from "../../../../src/kit/telemetry/open-telemetry.js";
import { signalEvent, signedDelivery } from "../../../../src/kit/testing/index.js";
import { turns, until } from "../../until.js";
import { faultyStore, mediumError, rowError } from "../inbox/faulty-store.js";
import { SECRET, startRig, type Rig } from "../inbox/receiver-rig.js";
import { registerSdk, type Sdk } from "./register-sdk.js";

/**
 * The values of a metric, by what tells its points apart. A histogram's value is its count and its
 * sum.
 */
async function valuesOf(sdk: Sdk, metric: string): Promise<Record<string, unknown>> {
  const points = await sdk.points(metric);
  return Object.fromEntries(
    points.map(({ attributes: { "signalbox.endpoint": endpoint, ...others }, value }) => {
      expect(endpoint).toBe("default");
      return [Object.values(others).join(), value];
    }),
  );
}

async function countsOf(sdk: Sdk, metric: string): Promise<Record<string, unknown>> {
  const values = Object.entries(await valuesOf(sdk, metric));
  return Object.fromEntries(values.map(([key, value]) => [key, (value as Histogram).count]));
}

/** Without the outcomes that are at 0 because they have not happened. */
async function outcomesOf(sdk: Sdk, metric: string): Promise<Record<string, unknown>> {
  const values = Object.entries(await valuesOf(sdk, metric));
  return Object.fromEntries(values.filter(([, value]) => value !== 0));
}

const valueOf = async (sdk: Sdk, gauge: string) =>
  (await sdk.points(`signalbox.${gauge}`)).map(({ value }) => value);

const titled = (title: string): SignalEvent => signalEvent({ data: { title } });

async function deliverAll(
  { receiver, signed }: Rig,
  events: readonly object[],
  secret = SECRET,
): Promise<void> {
  for (let first = 0; first < events.length; first += 50) {
    await Promise.all(
      events.slice(first, first + 50).map((event) => receiver.handle(signed(event, secret))),
    );
  }
}

const times = <Item>(count: number, make: () => Item): Item[] =>
  Array.from({ length: count }, make);

test("after a known load the metrics are equal to the load", async () => {
  const sdk = registerSdk();
  const beganAt = performance.now();
  const failed = new Set<string>();
  const rig = await startRig({
    telemetry: openTelemetry(),
    clock: systemClock,
    handoff: { backoff: () => 0 },
    onSignal({ id, data }) {
      if (data.title === "gives up") throw new PermanentFailure();
      if (data.title !== "fails once" || failed.has(id)) return;
      failed.add(id);
      throw new Error("down");
    },
  });
  // The breaker would open at ten failures in a row.
  const failing = times(30, () => [titled("fails once"), titled("fine"), titled("fine")]).flat();
  const good = [
    ...failing,
    ...times(5, () => titled("gives up")),
    ...times(405, () => titled("fine")),
  ];
  await deliverAll(rig, good);
  await deliverAll(rig, good.slice(0, 40));
  await deliverAll(rig, good.slice(0, 25), "whsec_forged");
  await deliverAll(
    rig,
    times(10, () => ({ id: `evt_${Math.random()}`, type: "unheard.of" })),
  );
  const count = (name: string): number => rig.seen.filter((each) => each.name === name).length;
  await until(() => count("handedOff") === 495 && count("dead") === 5);

  const deliveries = { accepted: 500, duplicate: 40, signature_mismatch: 25, quarantined: 10 };
  expect(await outcomesOf(sdk, "signalbox.deliveries")).toEqual(deliveries);
  expect(await countsOf(sdk, "signalbox.delivery.duration")).toEqual(deliveries);
  const handoffs = { done: 495, rejected: 30, permanent: 5 };
  expect(await outcomesOf(sdk, "signalbox.handoffs")).toEqual(handoffs);
  expect(await countsOf(sdk, "signalbox.handoff.duration")).toEqual(handoffs);
  expect(await valuesOf(sdk, "signalbox.dead")).toEqual({
    permanent_failure: 5,
    attempts_exhausted: 0,
    crash_loop: 0,
  });
  const attempts = (await valuesOf(sdk, "signalbox.handoff.attempts"))[""];
  expect(attempts).toMatchObject({ count: 500, sum: 470 + 30 * 2 });
  const { commits } = rig.receiver.health();
  expect(await countsOf(sdk, "signalbox.commit.duration")).toEqual({ done: commits.count });
  for (const what of ["delivery", "commit", "handoff"]) {
    for (const { value } of await sdk.points(`signalbox.${what}.duration`)) {
      const { count: all, sum = 0 } = value as Histogram;
      expect(sum / all, what).toBeGreaterThan(0);
      expect(sum / all, `${what}, in seconds`).toBeLessThan((performance.now() - beganAt) / 1000);
    }
  }
});

test("gauges tell what waits for its commit and for its hand-off, and that hand-offs are paused", async () => {
  const sdk = registerSdk();
  const store = faultyStore();
  const rig = await startRig({ telemetry: openTelemetry(), store, handoff: { concurrency: 1 } });
  await rig.begin(1);
  await rig.deliverMany(11);
  await rig.clock.advance(1500);
  expect(await valueOf(sdk, "backlog.age")).toContain(1.5);

  const release = store.hold();
  const event = signalEvent();
  const delivery = rig.deliver(event);
  await turns();
  expect(await valueOf(sdk, "queue.events")).toContain(1);
  expect(await valueOf(sdk, "queue.size")).toContain(Buffer.byteLength(JSON.stringify(event)));
  release();
  await delivery;

  for (let call = 0; call < 10; call++) {
    await until(() => rig.calls.length > call);
    rig.calls[call]!.reject();
  }
  await until(async () => (await valueOf(sdk, "handoffs.paused"))[0] === 1);
});

test("deliveries to a receiver that does not run yet, or no more, are counted, and it is not up", async () => {
  const sdk = registerSdk();
  const store = { ...memoryStore(), open: () => Promise.reject(mediumError()) };
  const rig = createReceiver({
    secrets: SECRET,
    store,
    logger: false,
    onSignal: () => {},
    telemetry: openTelemetry(),
  });
  const { headers, body } = signedDelivery(signalEvent(), {
    secret: SECRET,
    now: systemClock.now(),
  });
  const deliver = () => rig.handle({ method: "POST", headers, body });
  await deliver();
  await expect(rig.start()).rejects.toThrow("disk");
  await deliver();
  expect(await outcomesOf(sdk, "signalbox.deliveries")).toEqual({ store_unavailable: 2 });
  expect(await valuesOf(sdk, "signalbox.up")).toEqual({ "": 0 });
  await rig.close();
  await deliver();
  expect(await outcomesOf(sdk, "signalbox.deliveries")).toEqual({
    store_unavailable: 2,
    closing: 1,
  });
});

test("gauges tell the health of each receiver while it runs; those of a closed one are 0, and it is not asked", async () => {
  const sdk = registerSdk();
  let asked = 0;
  const diagnostics = (): { sync: object } => {
    asked += 1;
    return { sync: { p50Ms: 2, p99Ms: 8 } };
  };
  const rig = await startRig({
    telemetry: openTelemetry(),
    store: { ...memoryStore(), diagnostics },
    handoff: { concurrency: 2 },
  });
  const store = faultyStore();
  const second = await startRig({ telemetry: openTelemetry(), endpoint: "second", store });
  await rig.begin(2);
  await rig.deliverMany(1);
  const running = (await sdk.points("signalbox.handoffs.running")).map(({ attributes, value }) => [
    attributes,
    value,
  ]);
  expect(running).toEqual([
    [{ "signalbox.endpoint": "default" }, 2],
    [{ "signalbox.endpoint": "second" }, 0],
  ]);
  for (const gauge of ["queue.events", "queue.size", "backlog.age", "handoffs.paused"]) {
    expect((await valueOf(sdk, gauge))[0], gauge).toBe(0);
  }
  expect(await valuesOf(sdk, "signalbox.sync.duration")).toEqual({ "0.5": 0.002, "0.99": 0.008 });

  expect(await valueOf(sdk, "up")).toEqual([1, 1]);

  await rig.receiver.close({ graceMs: 0 });
  asked = 0;
  store.fail(mediumError());
  await second.deliver();
  for (const gauge of ["up", "handoffs.running", "sync.duration"])
    expect(await valueOf(sdk, gauge)).toEqual([0, 0]);
  expect(asked).toBe(0);
});

test("an attempt whose settlement the store refuses has ended too", async () => {
  const sdk = registerSdk();
  const store = faultyStore();
  const rig = await startRig({ telemetry: openTelemetry(), store });
  await rig.begin(1);
  store.fail(rowError());
  rig.calls[0]!.resolve();
  await until(async () => (await valuesOf(sdk, "signalbox.handoffs")).lease_lost === 1);
  expect(sdk.span("hand-off default").attributes["signalbox.outcome"]).toBe("lease_lost");
});
