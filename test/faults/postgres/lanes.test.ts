import { expect } from "vitest";
import { laneKey } from "../../../src/kit/inbox/lane.js";
import { accept } from "../../contract/cases/store-case.js";
import { ENDPOINT, testOnDatabase } from "./open-stores.js";

testOnDatabase(
  "who dissolves lanes waits for a commit that has locked them, before it locks an event",
  async ({ open, hold }) => {
    const store = await open();
    const key = laneKey("a");
    await accept(store, "evt_1", { lane: { key, skips: false } });
    const holder = await hold(
      `SELECT lock_lanes(ARRAY['\\x${Buffer.from(key).toString("hex")}'::bytea])`,
    );
    const dissolved = store.tendLanes(ENDPOINT, false);
    await holder.blocks();
    // As a burst does.
    await holder.query("UPDATE inbox SET due_at = 0");
    await holder.end();
    expect(await dissolved).toMatchObject({ promoted: 1 });
  },
);
