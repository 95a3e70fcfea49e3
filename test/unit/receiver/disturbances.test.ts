import { expect, test } from "vitest";
import { createReceiver } from "../../../src/index.js";
import { sqliteStore } from "../../../src/stores/sqlite/sqlite-store.js";
import { signalEvent, signedDelivery } from "../../../src/testing/index.js";
import { SECRET, startRig } from "../inbox/receiver-rig.js";
import { faultyStore } from "../inbox/faulty-store.js";
import { rejectionOf } from "../signalbox-error-of.js";
import { inboxPath } from "../stores/sqlite/open-store.js";
import { turns, until } from "../until.js";

// An unhandled rejection fails the run by itself.
test("a listener that rejects or throws changes nothing", async () => {
  const rig = await startRig();
  rig.receiver.on("accepted", () => Promise.reject(new Error("mine")) as never);
  rig.receiver.on("accepted", () => {
    throw new Error("mine");
  });
  expect((await rig.deliver()).status).toBe(200);
  await turns();
});

test.each([
  ["throws", () => fault()],
  ["rejects", () => Promise.reject(new Error("mine"))],
])(
  "a logger whose methods %s changes nothing: a failed event is settled and its slot is free",
  async (_what, method) => {
    const logger = { debug: method, info: method, warn: method, error: method, child: () => logger };
    const rig = await startRig({ logger: logger as never, handoff: { concurrency: 1, maxAttempts: 1 } });
    rig.receiver.on("handoffFailed", () => fault());
    await rig.deliverMany(2);
    for (const index of [0, 1]) {
      await until(() => rig.calls.length > index);
      rig.calls[index]?.reject();
    }
    await until(() => rig.namesSeen().filter((name) => name === "dead").length === 2);
    expect((await rig.entries()).map(({ state }) => state)).toEqual(["dead", "dead"]);
    expect(rig.receiver.health()).toMatchObject({ ok: true, running: 0 });
  },
);

test.each([
  ["an error whose name throws", Object.defineProperty(new Error("x"), "name", { get: () => fault() })],
  ["a proxy that nobody may look at", new Proxy({}, { getPrototypeOf: () => fault(), has: () => fault() })],
  ["an error with a name that is no text", Object.defineProperty(new Error("x"), "name", { value: 7 })],
])("whatever a callback throws is a failed attempt: %s", async (_what, thrown) => {
  const rig = await startRig({
    onSignal: () => {
      throw thrown;
    },
  });
  await rig.deliver();
  await until(() => rig.namesSeen().includes("handoffFailed"));
  await turns();
  expect((await rig.entries())[0]).toMatchObject({ state: "ready", attempts: 1 });
});

test("closing a receiver that could not start leaves the one that did alone", async () => {
  const store = sqliteStore(inboxPath());
  const options = { secrets: SECRET, store, onSignal: () => undefined, logger: false as const };
  const first = createReceiver(options);
  await first.start();
  const second = createReceiver(options);
  const starting = second.start();
  const closing = second.close();
  expect((await rejectionOf(starting)).code).toBe("store_in_use");
  await closing;
  const delivery = signedDelivery(signalEvent(), { secret: SECRET });
  expect((await first.handle({ method: "POST", ...delivery })).status).toBe(200);
  await first.close();
});

test("closing while a claim is in flight leaves no timer behind", async () => {
  const store = faultyStore();
  const rig = await startRig({ store, handoff: { backoff: () => 60_000 } });
  await rig.deliverMany(1);
  await until(() => rig.calls.length === 1);
  rig.calls[0]!.reject();
  await turns();
  const release = store.hold();
  await rig.clock.advance(1000);
  expect(store.commits.at(-1)?.claim).not.toBeNull();
  const closing = rig.receiver.close({ graceMs: 0 });
  release();
  await closing;
  expect(rig.clock.pendingTimers()).toBe(0);
});

function fault(): never {
  throw new Error("a fault of the thrown value");
}
