import { expect, test, vi } from "vitest";
import { readNews } from "../../../../src/kit/inbox/situation/receiver-report.js";
import { memoryStore } from "../../../../src/kit/stores/memory.js";
import {
  createManualClock,
  signalEvent,
  signedDelivery,
  testReceiver,
} from "../../../../src/kit/testing/index.js";

/** A receiver, what its store keeps of it, and how often that was saved. */
async function start(onSignal: () => void = () => undefined) {
  const store = memoryStore();
  const saveReport = vi.spyOn(store, "saveReport");
  const rig = await testReceiver({ store, onSignal });
  const refuse = (
    remoteAddress = "203.0.113.7",
    event: object = signalEvent({ id: "sig_forged" }),
  ) =>
    rig.receiver.handle({
      method: "POST",
      ...signedDelivery(event, { secret: "whsec_of_somebody", now: rig.clock.now() }),
      remoteAddress: () => remoteAddress,
    });
  return {
    ...rig,
    store,
    refuse,
    saveReport,
    news: () => readNews(store, "default", rig.clock.now()),
  };
}

test("refused deliveries are kept by reason, with when, where from and which event, and nothing else", async () => {
  const { refuse, news, receiver, clock, saveReport } = await start();
  expect((await refuse()).status).toBe(401);
  await receiver.handle({ method: "POST", headers: {}, body: Buffer.from("{}") });
  await clock.advance(5000);
  const { refusals } = await news();
  expect(refusals.byCode).toEqual([
    { code: "signature_mismatch", count: 1 },
    { code: "signature_missing", count: 1 },
  ]);
  expect(refusals.examples.at(-1)).toMatchObject({
    code: "signature_mismatch",
    address: "203.0.113.7",
    eventId: "sig_forged",
  });
  const saved = saveReport.mock.calls.map(([, , report]) => report).join("");
  expect(saved).not.toMatch(/whsec|v1=|title/);
});

test("a flood of refused deliveries is one write in 5 seconds, its report stays small, and a day later nothing is told", async () => {
  const { refuse, news, clock, saveReport } = await start();
  for (const waitMs of [1, 4900]) {
    for (let index = 0; index < 250; index++) await refuse("a".repeat(1000));
    await clock.advance(waitMs);
  }
  expect(saveReport).toHaveBeenCalledTimes(1);
  await clock.advance(100);
  expect(saveReport).toHaveBeenCalledTimes(2);
  expect(saveReport.mock.calls.at(-1)?.[2].length).toBeLessThan(5000);
  expect((await news()).refusals.byCode).toEqual([{ code: "signature_mismatch", count: 500 }]);
  clock.setNow(clock.now() + 25 * 3_600_000);
  expect((await news()).refusals).toEqual({ byCode: [], examples: [] });
});

test("a pause is told with its time and error until hand-offs go on, and in health() at once", async () => {
  let isDown = true;
  const { deliver, news, receiver, clock } = await start(() => {
    if (isDown) throw new Error("connect ECONNREFUSED");
  });
  const startedAt = clock.now();
  for (let index = 0; index < 10; index++) await deliver(signalEvent());
  await clock.advance(120_000);
  const { pause } = await news();
  expect(pause).toMatchObject({ error: "Error: connect ECONNREFUSED" });
  expect(pause?.since).toBeLessThan(startedAt + 1000);
  expect(receiver.health().summary).toMatch(
    /^Behind: events wait, .*received 2 min ago\. Hand-offs are paused since .* by `Error: connect ECONNREFUSED`; one event is tried in/,
  );
  isDown = false;
  await receiver.inbox.retryNow((await receiver.inbox.failures())[0]?.eventIds ?? []);
  await clock.advance(5000);
  expect(receiver.health()).toMatchObject({ pause: null, summary: "Up to date." });
  expect((await news()).pause).toBeNull();
  expect(await receiver.inbox.stats()).toMatchObject({ done: 10, ready: 0 });
});

test("the pause of a receiver that was killed is over when another has the inbox alone, and its refused deliveries stay", async () => {
  const clock = createManualClock();
  const pause = { since: clock.now(), error: "Error: down", nextTryAt: clock.now() };
  const at = clock.now() - (clock.now() % 300_000);
  const report = { pause, refused: { [at]: { signature_mismatch: 2 } }, examples: [] };
  const refusals = { byCode: [{ code: "signature_mismatch", count: 2 }], examples: [] };
  for (const shared of [false, true]) {
    const store = Object.assign(memoryStore(), { shared });
    await store.open({ endpoint: "default", clock });
    await store.saveReport("default", "killed", JSON.stringify(report));
    await store.close("default");
    await clock.advance(1000);
    const { receiver } = await testReceiver({ store, clock });
    await clock.advance(1000);
    const news = await readNews(store, "default", clock.now());
    expect(news).toMatchObject({ pause: shared ? pause : null, refusals });
    await receiver.close();
  }
});

test("what an erasure has deleted of refused deliveries and of a pause does not come back", async () => {
  const { deliver, news, receiver, clock, store } = await start(() => {
    throw new Error("no user ann@example.com");
  });
  for (let index = 0; index < 10; index++) await deliver(signalEvent());
  await deliver(signalEvent({ id: "evt_ann@example.com" }), { secret: "whsec_other" });
  await clock.advance(60_000);
  const saved = async () =>
    JSON.stringify((await store.reports("default")).map(({ report }) => report));
  expect(await saved()).toMatch(/no user ann@example.com.*evt_ann@example.com/);
  await receiver.inbox.erase({ containing: "ann@example.com" });
  await deliver(signalEvent({ id: "evt_bob" }), { secret: "whsec_other" });
  await clock.advance(60_000);
  expect(await saved()).not.toContain("ann@");
  const byCode = [{ code: "signature_mismatch", count: 2 }];
  expect(await news()).toMatchObject({ pause: { error: "erased" }, refusals: { byCode } });
});
