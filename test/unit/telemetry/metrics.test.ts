import type { Histogram } from "@opentelemetry/sdk-metrics";
import { expect, test } from "vitest";
import { PermanentFailure, type SignalEvent } from "../../../src/index.js";
import { memoryStore } from "../../../src/stores/memory.js";
import { systemClock } from "../../../src/time/clock.js";
import { openTelemetry } from "../../../src/telemetry/open-telemetry.js";
import { signalEvent, signedDelivery } from "../../../src/testing/index.js";
import { faultyStore, mediumError, rowError } from "../inbox/faulty-store.js";
import { SECRET, startRig, type Rig } from "../inbox/receiver-rig.js";
import { until } from "../until.js";
import { registerSdk, type Sdk } from "./register-sdk.js";

/** The values of a metric, by what tells its points apart. A histogram's value is its count and its sum. */
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

const titled = (title: string): SignalEvent => signalEvent({ data: { title } });

async function deliverAll(rig: Rig, events: readonly object[], secret = SECRET): Promise<void> {
  for (let first = 0; first < events.length; first += 50) {
    const some = events.slice(first, first + 50);
    const deliveries = some.map((event) => signedDelivery(event, { secret, now: systemClock.now() }));
    await Promise.all(deliveries.map(({ headers, body }) => rig.receiver.handle({ method: "POST", headers, body })));
  }
}

const times = <Item>(count: number, make: () => Item): Item[] => Array.from({ length: count }, make);

test("after a known load the metrics are equal to the load", async () => {
  const sdk = registerSdk();
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
  const good = [...failing, ...times(5, () => titled("gives up")), ...times(405, () => titled("fine"))];
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
  expect(await valuesOf(sdk, "signalbox.deliveries")).toEqual(deliveries);
  expect(await countsOf(sdk, "signalbox.delivery.duration")).toEqual(deliveries);
  const handoffs = { done: 495, rejected: 30, permanent: 5 };
  expect(await valuesOf(sdk, "signalbox.handoffs")).toEqual(handoffs);
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
  const running = (await sdk.points("signalbox.handoffs.running")).map(({ attributes, value }) => [attributes, value]);
  expect(running).toEqual([
    [{ "signalbox.endpoint": "default" }, 2],
    [{ "signalbox.endpoint": "second" }, 0],
  ]);
  for (const gauge of ["queue.events", "queue.size", "backlog.age", "breaker.open"]) {
    expect((await sdk.points(`signalbox.${gauge}`))[0]?.value, gauge).toBe(0);
  }
  expect(await valuesOf(sdk, "signalbox.sync.duration")).toEqual({ "0.5": 0.002, "0.99": 0.008 });

  const upOf = async (): Promise<unknown[]> => (await sdk.points("signalbox.up")).map(({ value }) => value);
  expect(await upOf()).toEqual([1, 1]);

  await rig.receiver.close({ graceMs: 0 });
  asked = 0;
  store.fail(mediumError());
  await second.deliver();
  expect(await upOf()).toEqual([0, 0]);
  expect((await sdk.points("signalbox.handoffs.running")).map(({ value }) => value)).toEqual([0, 0]);
  expect((await sdk.points("signalbox.sync.duration")).map(({ value }) => value)).toEqual([0, 0]);
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
