import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { BatchResult, NewEvent, Settlement } from "../../../../../src/kit/inbox/batch.js";
import type { InboxStore } from "../../../../../src/kit/index.js";
import {
  sqliteStore,
  type SqliteStore,
  type SqliteStoreOptions,
} from "../../../../../src/kit/stores/sqlite/sqlite-store.js";
import { tempFolder } from "../../../temp-folder.js";
import { batchOf, opened } from "../../inbox/new-event.js";

/** The path of an inbox in a folder of this test alone. Nothing is there yet. */
export const inboxPath = (): string => join(tempFolder(), "inbox.db");

/** A SQLite store that is open, and closed with the test. */
export async function openStore(
  pathOrOptions: string | URL | SqliteStoreOptions,
): Promise<SqliteStore> {
  const store = await opened(sqliteStore(pathOrOptions));
  onTestFinished(() => store.close("default"));
  return store;
}

export function accept(store: InboxStore, ...accepts: NewEvent[]): Promise<BatchResult> {
  return store.commit(batchOf({ accepts }));
}

export function settleDone(store: InboxStore, seq: number): Promise<BatchResult> {
  const settlement: Settlement = {
    seq,
    token: 1,
    state: "done",
    delayMs: 0,
    attempts: 1,
    possiblyRepeated: false,
    lastError: null,
    receivedAt: 0,
  };
  return store.commit(batchOf({ settlements: [settlement] }));
}

const { fdatasync } = fs;

export type Sync = typeof fdatasync;

/** Syncs files by this, until the test ends or another is given; without one, as Node does. */
export function useSync(sync = fdatasync): void {
  fs.fdatasync = sync;
  syncBuiltinESMExports();
  if (sync !== fdatasync) onTestFinished(() => useSync());
}
