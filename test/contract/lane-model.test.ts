import { afterAll, expect } from "vitest";
import { createManualClock } from "../../src/kit/testing/manual-clock.js";
import { memoryStore } from "../../src/kit/stores/memory.js";
import { hasServer, testWith } from "../prerequisites.js";
import type { ContractMedium } from "./cases/store-case.js";
import { runSchedule } from "./lane-model.js";
import { POSTGRES_PORT, postgresMedium } from "./postgres-medium.js";
import { sqliteMedium } from "./sqlite-medium.js";

/** `ORDER_SCHEDULES=10000 ORDER_SEED=1 npx vitest …` runs more. */
const MORE = Number(process.env["ORDER_SCHEDULES"] ?? 0);
const SEED = Number(process.env["ORDER_SEED"] ?? Date.now() % 1_000_000);

const MEDIA: Record<
  string,
  { make: () => ContractMedium | Promise<ContractMedium>; runs: number }
> = {
  memory: {
    make() {
      const store = memoryStore();
      return { createStore: () => store, destroy: async () => {} };
    },
    runs: 60,
  },
  sqlite: { make: () => sqliteMedium(false), runs: 30 },
  "sqlite, shared": { make: () => sqliteMedium(true), runs: 30 },
  postgres: { make: () => postgresMedium(), runs: 5 },
};

const hasPostgres = await hasServer(POSTGRES_PORT);
const media: ContractMedium[] = [];
afterAll(async () => {
  for (const medium of media) await medium.destroy();
});

for (const [name, { make, runs }] of Object.entries(MEDIA)) {
  testWith(name !== "postgres" || hasPostgres)(
    `${name}: G17 and G18, whatever happens, the events of a key are handed off in order, and none is left behind`,
    async () => {
      const medium = await make();
      media.push(medium);
      const clock = createManualClock();
      const stores = [medium.createStore()];
      if (medium.createSibling !== undefined) stores.push(medium.createSibling());
      // Its files and connections stay open from one schedule to the next.
      for (const store of stores) await store.open({ endpoint: "held", clock });
      for (let run = 0; run < (MORE || runs); run += 1) {
        const seed = SEED + run;
        const endpoint = `schedule-${run}`;
        for (const store of stores) await store.open({ endpoint, clock });
        await runSchedule({
          seed,
          endpoint,
          steps: 30,
          // To read them takes most of the time.
          checkedSteps: MORE > 0 ? 5 : 1,
          skips: run % 2 === 1,
          bursts: (["none", "by arrival", "by rank"] as const)[run % 3] ?? "none",
          clock,
          stores,
          execute: medium.execute,
        });
        for (const store of stores) await store.close(endpoint);
      }
      for (const store of stores) await store.close("held");
      expect(media).toContain(medium);
    },
    MORE > 0 ? 7_200_000 : 60_000,
  );
}
