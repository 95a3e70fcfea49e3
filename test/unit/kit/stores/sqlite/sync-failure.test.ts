import { expect, onTestFinished, test } from "vitest";
import { openSqlite } from "../../../../open-sqlite.js";
import { rejectionOf } from "../../../signalbox-error-of.js";
import { newEvent } from "../../inbox/new-event.js";
import { accept, inboxPath, openStore, useSync, type Sync } from "./open-store.js";

/** The next sync of the WAL fails. */
function breakSync(): void {
  useSync(((_descriptor, end) => {
    useSync();
    end(Object.assign(new Error("EIO"), { code: "EIO" }));
  }) as Sync);
}

test("while a read keeps the file from being rewritten, nothing is acknowledged", async () => {
  const path = inboxPath();
  const store = await openStore(path);
  await accept(store, newEvent());
  breakSync();
  const reader = openSqlite(path, { readonly: true });
  onTestFinished(() => void reader.close());
  reader.exec("BEGIN");
  reader.prepare("SELECT count(*) FROM inbox").get();
  for (let time = 0; time < 4; time++)
    expect((await rejectionOf(accept(store, newEvent()))).code).toBe("store_failed");
  reader.exec("COMMIT");
  await accept(store, newEvent());
});

test("a take-over after a failed sync fails with the medium and frees once it works", async () => {
  const store = await openStore(inboxPath());
  const reclaim = () => store.reclaim({ endpoint: "default", held: [], crashed: false });
  breakSync();
  await rejectionOf(accept(store, newEvent({ state: "leased" })));
  expect((await reclaim()).freed).toBe(1);
  breakSync();
  expect((await rejectionOf(reclaim())).code).toBe("store_failed");
  expect((await reclaim()).freed).toBe(0);
});
