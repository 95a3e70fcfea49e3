import { expect, test } from "vitest";
import type { ReceiverEventName } from "../../../../src/kit/index.js";
import { turns, until } from "../../until.js";
import { faultyStore, mediumError } from "./faulty-store.js";
import { startRig } from "./receiver-rig.js";

// An unhandled rejection fails the run by itself.
test.each([
  ["throw", () => mistake()],
  ["reject", async () => mistake()],
])(
  "when a logger and the listeners %s, each hand-off is settled and its slot is free again",
  async (_what, fail) => {
    const store = faultyStore();
    store.prune = () => Promise.reject(mediumError());
    const logger = { debug: fail, info: fail, warn: fail, error: fail, child: fail };
    const called: string[] = [];
    let fails = true;
    const { receiver, clock, deliver, deliverMany } = await startRig({
      store,
      logger: logger as never,
      handoff: { concurrency: 1, maxAttempts: 1 },
      onSignal({ id }) {
        called.push(id);
        if (fails) throw new Error("the queue is down");
      },
    });
    const names: ReceiverEventName[] = [
      "accepted",
      "handedOff",
      "handoffFailed",
      "dead",
      "rejected",
    ];
    for (const name of names) receiver.on(name, (): unknown => fail());
    // As many as open the breaker.
    await deliverMany(10);
    await until(() => called.length === 10);
    fails = false;
    await clock.advance(1000);
    await deliverMany(1);
    store.fail(mediumError());
    expect((await deliver()).status).toBe(503);
    store.fail(null);
    await clock.advance(60_000);
    const [last] = await deliverMany(1);
    await until(() => called.includes(last.id));
    await turns();
    expect(await receiver.inbox.stats()).toMatchObject({
      dead: 10,
      done: 2,
      leased: 0,
      ready: 0,
      running: 0,
    });
  },
);

function mistake(): never {
  throw new Error("a mistake of the user");
}
