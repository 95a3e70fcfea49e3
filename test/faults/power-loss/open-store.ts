import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { openSqlite } from "../../open-sqlite.js";
import { systemClock } from "../../../src/base/time/clock.js";
import { sqliteStore } from "../../../src/kit/stores/sqlite/sqlite-store.js";
import { batchOf, newEvent, opened } from "../../unit/kit/inbox/new-event.js";
import type { Ledger } from "./ledger.js";
import { INBOX } from "./recorder.js";

/**
 * Opens a state as the next start would, takes one more event, and finds the file whole afterwards.
 */
export async function expectToGoOn(folder: string, { acknowledged }: Ledger): Promise<void> {
  const path = join(folder, INBOX);
  rmSync(`${path}-shm`, { force: true });
  const endpoint = "default";
  const store = await opened(sqliteStore(path), systemClock);
  for (const id of [...acknowledged.keys()].slice(-5)) {
    const found = (await store.get(endpoint, id)) ?? (await store.get("other", id));
    expect(found?.rawBody, id).toBeInstanceOf(Uint8Array);
  }
  const event = newEvent();
  const { accepts } = await store.commit(batchOf({ accepts: [event] }));
  expect(accepts).toMatchObject([{ status: "accepted" }]);
  await store.close(endpoint);
  const db = openSqlite(path, { readonly: true });
  expect(db.pragma("integrity_check", { simple: true })).toBe("ok");
  expect(
    db.prepare("SELECT count(*) FROM inbox WHERE event_id = ?").pluck().get(event.eventId),
  ).toBe(1);
  db.close();
}
