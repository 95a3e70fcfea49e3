import { expect, onTestFinished } from "vitest";
import { PermanentFailure } from "../../../src/kit/index.js";
import { postgresStore } from "../../../src/kit/stores/postgres/postgres-store.js";
import { createManualClock, signalEvent, testReceiver } from "../../../src/kit/testing/index.js";
import { POSTGRES_URL } from "../../contract/postgres-medium.js";
import { eventually } from "../eventually.js";
import { testOnDatabase } from "./open-stores.js";

testOnDatabase(
  "of three processes that find the same alarm at the same time, one tells it, and a listener that fails leaves it to the next",
  async ({ schema, sql }) => {
    const told: string[] = [];
    const failing = new Set([0, 1, 2]);
    const clock = createManualClock();
    const rigs = await Promise.all(
      [0, 1, 2].map(async (index) => {
        const store = postgresStore({ connectionString: POSTGRES_URL, schema });
        const rig = await testReceiver({
          store,
          clock,
          onSignal: () => {
            throw new PermanentFailure();
          },
        });
        onTestFinished(() => rig.receiver.close({ graceMs: 0 }));
        rig.receiver.on("alarm", ({ kind, phase, key }) => {
          told.push(`${key.split("/")[1]} ${kind} ${phase}`);
          if (failing.delete(index)) throw new Error("down");
        });
        return rig;
      }),
    );
    const [first] = rigs as [(typeof rigs)[0], ...typeof rigs];
    const { inbox } = first.receiver;
    /** The looks go on by themselves, so each minute waits until all have ended. */
    const minutes = async (count: number) => {
      for (let minute = 0; minute < count; minute++) {
        const timers = clock.pendingTimers();
        await clock.advance(60_000);
        await eventually("the looks", () => clock.pendingTimers() >= timers);
      }
    };
    await first.deliver(signalEvent());
    await eventually("a dead event", async () => (await inbox.stats()).dead === 1);
    await minutes(12);
    // Each of the three can have failed once, and then takes what it did not.
    const begins = told.length;
    expect(begins).toBeGreaterThan(1);
    expect(begins).toBeLessThanOrEqual(4);
    expect(new Set(told)).toEqual(new Set(["dead dead begins"]));
    expect(failing.size).toBe(4 - begins);
    failing.clear();
    for (let round = 0; round < 3; round++) {
      told.length = 0;
      await inbox.discard((await inbox.list({ state: "dead" })).map(({ eventId }) => eventId));
      await minutes(8);
      expect(told).toEqual(["dead dead over"]);
      await sql("UPDATE inbox SET state = 'dead', parked_at = 1");
      await minutes(3);
      expect(told).toEqual(["dead dead over", "dead dead begins"]);
    }
  },
);
