import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { commonError } from "../../../../../src/kit/inbox/situation/failure-groups.js";
import {
  describeEndpoints,
  describeSituation,
  type SituationFacts,
} from "../../../../../src/kit/inbox/situation/situation.js";
import { PermanentFailure, SignalboxError } from "../../../../../src/kit/index.js";
import { memoryStore } from "../../../../../src/kit/stores/memory.js";
import { signalEvent, signedDelivery, testReceiver } from "../../../../../src/kit/testing/index.js";

const WELL: SituationFacts = {
  ready: 0,
  dead: 0,
  quarantined: 0,
  oldestReceivedAgeMs: null,
  oldestReadyAgeMs: null,
  pause: null,
  hasReceiver: true,
  now: 0,
};

test("an inbox in words", () => {
  const cases = JSON.parse(readFileSync(new URL("situation.json", import.meta.url), "utf8")) as {
    facts: Partial<SituationFacts>;
  }[];
  const said = cases.map(({ facts }) => {
    const { level, text } = describeSituation({ ...WELL, ...facts });
    return { facts, level, text };
  });
  expect(said).toEqual(cases);
});

test("of several endpoints the worst is first, and those of which the same is true are named together", () => {
  const all = [
    { endpoint: "a", facts: WELL },
    { endpoint: "b", facts: { ...WELL, quarantined: 1 } },
    { endpoint: "c", facts: WELL },
    { endpoint: "d", facts: { ...WELL, ready: 1, oldestReadyAgeMs: 60_000 } },
  ];
  expect(describeEndpoints(all)).toMatchObject({
    level: "problem",
    lines: [
      expect.stringMatching(/^d: Behind/),
      expect.stringMatching(/^b: 1 quarantined/),
      "a, c: Up to date.",
    ],
  });
});

test("health() says that nothing can be stored, what was refused, and that the receiver is closed", async () => {
  const store = memoryStore();
  const { receiver, deliver, clock } = await testReceiver({ store, onSignal: () => undefined });
  expect(receiver.health().summary).toBe("Up to date.");
  const commit = store.commit;
  store.commit = () => Promise.reject(new SignalboxError("store_failed", "The disk is full.", ""));
  const refused = receiver.handle({
    method: "POST",
    ...signedDelivery(signalEvent(), { secret: "whsec_of_somebody", now: clock.now() }),
  });
  expect((await refused).status).toBe(401);
  expect((await deliver(signalEvent())).status).toBe(503);
  const { ok, summary } = receiver.health();
  expect([ok, summary]).toEqual([
    false,
    expect.stringMatching(
      /^Nothing can be stored: store_failed; deliveries get 503\. 2 deliveries were refused in the last 24 h/,
    ),
  ]);
  store.commit = commit;
  await clock.advance(10_000);
  await deliver(signalEvent());
  expect(receiver.health().summary).toMatch(/^2 deliveries were refused in the last 24 h: mostly /);
  clock.setNow(clock.now() + 26 * 3_600_000);
  expect(receiver.health().summary).toBe("Up to date.");
  await receiver.close();
  expect(receiver.health().summary).toMatch(/^The receiver is closed; deliveries get 503\./);
});

test("the common error has nothing that cannot be seen", () => {
  const { message } = new PermanentFailure("\u001b[31mInvalid\u001b[39m\n\n call\u0000 to\u200b x");
  expect(commonError({ lastError: message, subject: null })).toBe("…Invalid…call… to… x");
});
