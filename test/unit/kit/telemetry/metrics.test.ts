import type { Histogram } from "@opentelemetry/sdk-metrics";
import { expect, test } from "vitest";
import { systemClock } from "../../../../src/base/time/clock.js";
import { PermanentFailure, type InboxStore, type SignalEvent } from "../../../../src/kit/index.js";
import { memoryStore } from "../../../../src/kit/stores/memory.js";
import { openTelemetry } from "../../../../src/kit/telemetry/open-telemetry.js";
import { signalEvent } from "../../../../src/kit/testing/index.js";
import { delivery, makeReceiver } from "../../../http/serve.js";
import { turns, until } from "../../until.js";
import { faultyStore, mediumError, rowError } from "../inbox/faulty-store.js";
import { SECRET, startRig, type Rig } from "../inbox/receiver-rig.js";
import { registerSdk, type Sdk } from "./register-sdk.js";

/**
 * The values of a metric, by what tells its points apart, without those at 0. Of a histogram, its
 * count.
 */
async function valuesOf(sdk: Sdk, metric: string): Promise<Record<string, number>> {
  const points = await sdk.points(`signalbox.${metric}`);
  const values = points.map(
    ({ attributes: { "signalbox.endpoint": endpoint, ...others }, value }) => {
      expect(endpoint).toBe("default");
      return [
        Object.values(others).join(),
        typeof value === "number" ? value : value.count,
      ] as const;
    },
  );
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
  const handoffs = { done: 495, rejected: 30, permanent: 5 };
  expect(await valuesOf(sdk, "deliveries")).toEqual(deliveries);
  expect(await valuesOf(sdk, "delivery.duration")).toEqual(deliveries);
  expect(await valuesOf(sdk, "handoffs")).toEqual(handoffs);
  expect(await valuesOf(sdk, "handoff.duration")).toEqual(handoffs);
  expect(await valuesOf(sdk, "dead")).toEqual({ permanent_failure: 5 });
  // Also those at 0 are there from the start, so that an alert sees the first one.
  expect(await valueOf(sdk, "dead")).toHaveLength(3);
  expect(await valueOf(sdk, "handoff.attempts")).toMatchObject([{ count: 500, sum: 470 + 30 * 2 }]);
  const { commits } = rig.receiver.health();
  expect(await valuesOf(sdk, "commit.duration")).toEqual({ done: commits.count });
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
  const held = rig.deliver(event);
  await turns();
  expect(await valueOf(sdk, "queue.events")).toContain(1);
  expect(await valueOf(sdk, "queue.size")).toContain(Buffer.byteLength(JSON.stringify(event)));
  release();
  await held;

  for (let call = 0; call < 10; call++) {
    await until(() => rig.calls.length > call);
    rig.calls[call]!.reject();
  }
  await until(async () => (await valueOf(sdk, "handoffs.paused"))[0] === 1);
});

test("deliveries to a receiver that does not run yet, or no more, are counted, and it is not up", async () => {
  const sdk = registerSdk();
  const store = { ...memoryStore(), open: () => Promise.reject(mediumError()) };
  const receiver = makeReceiver({ store, telemetry: openTelemetry() });
  const deliver = () => receiver.handle({ method: "POST", ...delivery() });
  await deliver();
  await expect(receiver.start()).rejects.toThrow("disk");
  await deliver();
  expect(await valuesOf(sdk, "deliveries")).toEqual({ store_unavailable: 2 });
  expect(await valueOf(sdk, "up")).toEqual([0]);
  await receiver.close();
  await deliver();
  expect(await valuesOf(sdk, "deliveries")).toEqual({ store_unavailable: 2, closing: 1 });
});

test("gauges tell the health of each receiver while it runs; those of a closed one are 0, and it is not asked", async () => {
  const sdk = registerSdk();
  let asked = 0;
  const diagnostics = (): { sync: object } => {
    asked += 1;
    return { sync: { p50Ms: 2, p99Ms: 8 } };
  };
  const telemetry = openTelemetry();
  const rig = await startRig({ telemetry, store: { ...memoryStore(), diagnostics } });
  expect(await valuesOf(sdk, "sync.duration")).toEqual({ "0.5": 0.002, "0.99": 0.008 });
  const store = faultyStore();
  const second = await startRig({ telemetry, endpoint: "second", store });
  await rig.begin(2);
  expect(await sdk.points("signalbox.handoffs.running")).toMatchObject([
    { attributes: { "signalbox.endpoint": "default" }, value: 2 },
    { attributes: { "signalbox.endpoint": "second" }, value: 0 },
  ]);
  for (const gauge of ["queue.events", "queue.size", "backlog.age", "handoffs.paused"])
    expect((await valueOf(sdk, gauge))[0], gauge).toBe(0);
  expect(await valueOf(sdk, "up")).toEqual([1, 1]);

  await rig.receiver.close({ graceMs: 0 });
  asked = 0;
  store.fail(mediumError());
  await second.deliver();
  for (const gauge of ["up", "handoffs.running", "sync.duration"])
    expect(await valueOf(sdk, gauge)).toEqual([0, 0]);
  expect(asked).toBe(0);
});

test.each([true, false])(
  "an attempt whose settlement the store refuses, or has no lease for, has ended too: %s",
  async (isRefused) => {
    const sdk = registerSdk();
    const store = memoryStore();
    const commit: InboxStore["commit"] = async (batch) => {
      if (isRefused && batch.settlements.length > 0) throw rowError();
      return { ...(await store.commit(batch)), settlements: batch.settlements.map(() => false) };
    };
    const rig = await startRig({ telemetry: openTelemetry(), store: { ...store, commit } });
    await rig.begin(1);
    rig.calls[0]!.resolve();
    await until(async () => (await valuesOf(sdk, "handoffs"))["lease_lost"] === 1);
    expect(sdk.outcome("hand-off default")).toBe("lease_lost");
  },
);

test("a gauge tells which alarms go on once they are looked for, and 0 once the receiver is closed", async () => {
  const sdk = registerSdk();
  const rig = await startRig({
    telemetry: openTelemetry(),
    alarms: {},
    onSignal: () => {
      throw new PermanentFailure();
    },
  });
  await rig.deliver();
  await rig.saw("dead");
  expect(await valueOf(sdk, "alarm")).toEqual([]);
  await rig.clock.advance(60_000);
  expect(await valuesOf(sdk, "alarm")).toEqual({ dead: 1 });
  expect(await valueOf(sdk, "alarm")).toHaveLength(6);
  await rig.receiver.close();
  expect(await valuesOf(sdk, "alarm")).toEqual({});
});
