import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "../../src/base/time/clock.js";
import type { InboxStore } from "../../src/kit/inbox/store.js";
import { sqliteStore } from "../../src/kit/stores/sqlite/sqlite-store.js";
import { MEMORY_DISK } from "../unit/temp-folder.js";
import type { ContractMedium } from "./store-contract.js";

export async function sqliteMedium(shared: boolean): Promise<ContractMedium> {
  const folder = await mkdtemp(join(MEMORY_DISK, "signalbox-"));
  const path = join(folder, "inbox.db");
  const createStore = (): InboxStore => sqliteStore({ path, shared });
  return {
    createStore,
    ...(shared && { createSibling: createStore }),
    async readBack(endpoint, eventId) {
      const reader = sqliteStore({ path, operator: true });
      await reader.open({ endpoint, clock: systemClock });
      try {
        return await reader.get(endpoint, eventId);
      } finally {
        await reader.close(endpoint);
      }
    },
    destroy: () => rm(folder, { recursive: true }),
  };
}
