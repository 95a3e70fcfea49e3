import type { InboxStore } from "../../src/kit/inbox/store.js";
import { createManualClock } from "../../src/kit/testing/manual-clock.js";
import { ACCEPT_CASES } from "./cases/accept-cases.js";
import { ADMINISTRATION_CASES } from "./cases/administration-cases.js";
import { ALARM_CASES } from "./cases/alarm-cases.js";
import { CRASH_CASES } from "./cases/crash-cases.js";
import { BURST_CASES } from "./cases/burst-cases.js";
import { ERASE_CASES } from "./cases/erase-cases.js";
import { LANE_CASES } from "./cases/lane-cases.js";
import { LEASE_CASES } from "./cases/lease-cases.js";
import { READING_CASES } from "./cases/reading-cases.js";
import { DAY_MS, ENDPOINTS, RECEIVED_AT, type ContractMedium } from "./cases/store-case.js";

export type { ContractMedium } from "./cases/store-case.js";

/** A test of one guarantee of {@link InboxStore}. */
export interface ContractCase {
  /** The tested guarantee: `G1` to `G20`. */
  guarantee: string;
  name: string;
  /** Rejects when the store breaks the guarantee. */
  run(): Promise<void>;
}

/** Makes the tests of a store's guarantees. Each case has a medium of its own. */
export function storeContract(
  createMedium: () => ContractMedium | Promise<ContractMedium>,
): ContractCase[] {
  return CASES.map(({ guarantee, name, run }) => ({
    guarantee,
    name,
    async run() {
      const medium = await createMedium();
      const clock = createManualClock(RECEIVED_AT + DAY_MS);
      const opened: InboxStore[] = [];
      const open = async (store: InboxStore): Promise<InboxStore> => {
        opened.push(store);
        for (const endpoint of ENDPOINTS) await store.open({ endpoint, clock });
        return store;
      };
      const advance = async (ms: number): Promise<void> => {
        if (medium.advance !== undefined) await medium.advance(ms);
        else if (ms < 0) clock.setNow(clock.now() + ms);
        else await clock.advance(ms);
      };
      try {
        const store = await open(medium.createStore());
        const sibling =
          medium.createSibling === undefined ? store : await open(medium.createSibling());
        const readBack = medium.readBack ?? ((endpoint, eventId) => store.get(endpoint, eventId));
        await run({ store, sibling, medium, open, readBack, advance });
      } finally {
        for (const store of opened.toReversed()) {
          for (const endpoint of ENDPOINTS) await store.close(endpoint);
        }
        await medium.destroy();
      }
    },
  }));
}

const CASES = [
  ...ACCEPT_CASES,
  ...LEASE_CASES,
  ...CRASH_CASES,
  ...ADMINISTRATION_CASES,
  ...READING_CASES,
  ...BURST_CASES,
  ...LANE_CASES,
  ...ALARM_CASES,
  ...ERASE_CASES,
];
