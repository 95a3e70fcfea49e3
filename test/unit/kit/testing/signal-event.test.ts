import { readFileSync } from "node:fs";
import { expect, onTestFinished, test, vi } from "vitest";
import { parseEvent, SIGNAL_TYPES, type SignalEvent } from "../../../../src/kit/index.js";
import {
  signalEvent,
  testEvent,
  verificationEvent,
  type SignalEventOverrides,
} from "../../../../src/kit/testing/index.js";

const FIXTURES = new URL("../../../../fixtures/", import.meta.url);
const fixture = (name: string): SignalEvent =>
  JSON.parse(readFileSync(new URL(`${name}.json`, FIXTURES), "utf8")) as SignalEvent;
const kindOf = (event: object): string => parseEvent(Buffer.from(JSON.stringify(event))).kind;
const DAY_MS = 24 * 60 * 60 * 1000;

test.each(SIGNAL_TYPES)(
  "a signal of type %s is the package's fixture, as of now, with an id of its own",
  (type) => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2031, 2, 1) });
    onTestFinished(() => void vi.useRealTimers());
    const event = signalEvent(type);
    expect(kindOf(event)).toBe("known");
    const original = fixture(`signals/${type}`);
    const { id, created_at, data } = event;
    const { signal_id, observed_at, published_at, period } = data;
    expect(event).toEqual({
      ...original,
      id: `sig_${signal_id}_${data.product.id}`,
      created_at: "2031-03-01T00:00:00.000Z",
      data: { ...original.data, signal_id, observed_at, published_at, period },
    });
    expect(id).not.toBe(original.id);
    const times = [period.start, period.end, observed_at, published_at, created_at].map((text) =>
      Date.parse(text),
    );
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    const ageOf = (text: string): number => Date.parse(created_at) - Date.parse(text);
    expect(ageOf(published_at)).toBeLessThan(DAY_MS);
    expect(ageOf(period.end)).toBeLessThan(60 * DAY_MS);
  },
);

test("without a type it is a traffic_breakout, or what the overrides say", () => {
  expect(signalEvent().data.title).toBe(fixture("signals/traffic_breakout").data.title);
  const event = signalEvent({ data: { signal_type: "price_increased" } });
  expect(event.data.title).toBe(fixture("signals/price_increased").data.title);
});

test("overrides are merged in, however deep, and the id follows them unless it is given", () => {
  const overrides = { data: { signal_id: 7, product: { id: 8 }, change: { after: { value: 9 } } } };
  const { data } = fixture("signals/price_increased");
  const event = signalEvent("price_increased", overrides);
  expect(event).toMatchObject({
    id: "sig_7_8",
    data: { product: { id: 8, slug: data.product.slug } },
  });
  const { unit } = data.change.after;
  expect(event.data.change).toEqual({ ...data.change, after: { value: 9, unit } });
  const absent = { id: undefined, data: { title: undefined, product: undefined } };
  const { title, product } = fixture("signals/traffic_breakout").data;
  expect(signalEvent(absent as unknown as SignalEventOverrides).data).toMatchObject({
    title,
    product,
  });
  const added = { id: "evt_own", added_later: [1], data: { product: { tier: "gold" } } };
  expect(signalEvent(added as SignalEventOverrides)).toMatchObject({
    ...added,
    data: { product: { tier: "gold", slug: product.slug } },
  });
});

test("none shares a part that one test could change under another", () => {
  const first = signalEvent();
  first.data.product.slug = "changed";
  first.data.change.before.value = -1;
  const { product, change } = fixture("signals/traffic_breakout").data;
  expect(signalEvent().data).toMatchObject({ product, change });
  expect(signalEvent().id).not.toBe(signalEvent().id);
});

test("two processes do not begin with the same id: they may share a database", async () => {
  const firstIdOfAProcess = async (): Promise<number> => {
    vi.resetModules();
    const fresh = await import("../../../../src/kit/testing/signal-event.js");
    return fresh.signalEvent().data.signal_id;
  };
  expect(Math.abs((await firstIdOfAProcess()) - (await firstIdOfAProcess()))).toBeGreaterThan(100);
});

test("a test event and a verification are the package's fixtures, each with an id of its own", () => {
  for (const [make, name] of [
    [testEvent, "webhook.test"],
    [verificationEvent, "webhook.verification"],
  ] as const) {
    const event = make();
    expect(event.type).toBe(name);
    expect(kindOf(event)).toBe("known");
    expect(Object.keys(event)).toEqual(Object.keys(fixture(`events/${name}`)));
    expect(event.id).toMatch(/^evt_[0-9a-f]{16}$/);
    expect(make().id).not.toBe(event.id);
    expect(Math.abs(Date.now() - Date.parse(event.created_at))).toBeLessThan(60_000);
    expect(make({ id: "evt_own" }).id).toBe("evt_own");
  }
  expect(testEvent({ data: { message: "hello" } }).data).toEqual({ message: "hello" });
  expect(verificationEvent({ data: { challenge: "c" } }).data).toEqual({ challenge: "c" });
  // A receiver that always answers the same must not pass.
  expect(verificationEvent().data.challenge).not.toBe(verificationEvent().data.challenge);
});
