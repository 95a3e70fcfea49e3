import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { MIGRATIONS } from "../../../src/kit/stores/sqlite/tables.js";
import { sqliteStore } from "../../../src/kit/stores/sqlite/sqlite-store.js";
import { accept, inboxPath } from "../../unit/kit/stores/sqlite/open-store.js";
import { signalEvent } from "../../../src/kit/testing/index.js";
import { settlement } from "../../contract/cases/store-case.js";
import { openSqlite } from "../../open-sqlite.js";
import { batchOf, newEvent, opened, T0 } from "../../unit/kit/inbox/new-event.js";
import { startRig } from "../../unit/kit/inbox/receiver-rig.js";
import { tempFolder } from "../../unit/temp-folder.js";

const ANN = "ann-private-7f3a";

/** In a process of its own, so that no lock of this one is dropped. @returns the files with the text */
function filesWith(folder: string, text: string): string {
  return spawnSync("grep", ["-rlaiF", text, folder], { encoding: "utf8" }).stdout;
}

const about = (slug: string, more = "") =>
  signalEvent({ data: { product: { slug }, title: `of ${slug}`, summary: `${slug} ${more}` } });

test("what is erased while a receiver works under load is in no file, and nothing else is lost", async () => {
  const path = join(tempFolder(), "inbox.db");
  let calls = 0;
  const rig = await startRig({
    store: sqliteStore(path),
    order: true,
    onSignal: async ({ data }) => {
      calls += 1;
      if (calls % 3 === 0)
        throw new Error(`no room for ${data.product.slug} ${"…".repeat(calls % 900)}`);
    },
  });
  const events = Array.from({ length: 3000 }, (_, index) =>
    about(index % 10 === 0 ? ANN : `other-${index % 40}`, "x".repeat(index % 1500)),
  );
  const deliver = async (some: typeof events) => {
    for (const { status } of await Promise.all(some.map(rig.deliver))) expect(status).toBe(200);
  };
  const ofAnn = ({ data }: (typeof events)[number]) =>
    (data["product"] as { slug: string }).slug === ANN;
  for (let from = 0; from < 2000; from += 100) await deliver(events.slice(from, from + 100));
  const others = events.slice(2000).filter((event) => !ofAnn(event));
  const load = (async () => {
    while (others.length > 0) await deliver(others.splice(0, 50));
  })();
  const { erased, ...rest } = await rig.receiver.inbox.erase({ subject: ANN });
  const found = filesWith(dirname(path), ANN);
  await load;
  expect(erased).toBe(200);
  // What moved rows left behind is found, and said.
  if (rest.files === "clean") expect(found).toBe("");
  else expect(rest.why).toMatch(/vacuum/);

  const lost = events.filter((event, index) => !(ofAnn(event) && index >= 2000));
  for (const event of lost) {
    const stored = await rig.receiver.inbox.get(event.id);
    expect(stored?.rawBody === null).toBe(ofAnn(event));
  }
  expect(JSON.stringify(await rig.receiver.inbox.failures())).not.toContain(ANN);
  for (const event of events.slice(0, 2000).filter(ofAnn))
    expect((await rig.deliver(event)).body).toContain("duplicate");
  expect((await rig.receiver.inbox.erase({ containing: ANN })).erased).toBe(0);
  await rig.receiver.close();

  const tool = await opened(sqliteStore({ path, operator: true }));
  await tool.vacuum?.();
  expect(await tool.wipe(ANN)).toBe(null);
  await tool.close("default");
  expect(filesWith(dirname(path), ANN)).toBe("");
}, 60_000);

/** A file as version 0.2.0 leaves it: it did not overwrite what it deleted. */
function writeOldFile(path: string, count: number): void {
  const db = openSqlite(path);
  db.pragma("secure_delete = OFF");
  db.pragma("journal_mode = WAL");
  db.pragma("application_id = 0x73676278");
  db.exec(`${MIGRATIONS.slice(0, 9).join("")} PRAGMA user_version = 9`);
  const insert =
    db.prepare(`INSERT INTO inbox (endpoint, event_id, type, state, due_at, token, received_at, body_hash, subject)
    VALUES ('default', ?, 't', 'done', ${T0}, 1, ${T0}, randomblob(32), ?)`);
  const body = db.prepare("INSERT INTO inbox_body (seq, received, body) VALUES (?, '{}', ?)");
  for (let index = 0; index < count; index += 1) {
    const { lastInsertRowid } = insert.run(`evt_${index}`, ANN);
    body.run(Number(lastInsertRowid), Buffer.from(`${"x".repeat(5000)} ${ANN}`));
  }
  // What its retention did: the ends of these bodies are in free pages now.
  db.exec("DELETE FROM inbox_body WHERE seq % 4 > 0");
  db.close();
}

test("a file of version 0.2.0 is clean after one vacuum", async () => {
  const path = inboxPath();
  writeOldFile(path, 400);
  const store = await opened(sqliteStore(path));
  await store.close("default");
  const tool = await opened(sqliteStore({ path, operator: true }));
  const ids = (await tool.list({ limit: 500 })).map(({ endpoint, eventId }) => ({
    endpoint,
    eventId,
  }));
  expect(ids).toHaveLength(400);
  await tool.erase(ids, ANN);
  expect(await tool.wipe(ANN)).toMatch(/inbox vacuum/);
  expect(filesWith(dirname(path), ANN)).not.toBe("");
  await tool.vacuum?.();
  expect(await tool.wipe(ANN)).toBe(null);
  expect(filesWith(dirname(path), ANN)).toBe("");
  expect(await tool.list({ limit: 500 })).toHaveLength(400);
  await tool.close("default");
});

test("while a reader needs the WAL the files are not clean yet", async () => {
  const path = inboxPath();
  const store = await opened(sqliteStore(path));
  await accept(store, newEvent({ eventId: "evt_1", subject: ANN }));
  const reader = openSqlite(path, { readonly: true });
  reader.exec("BEGIN");
  reader.prepare("SELECT count(*) FROM inbox").get();
  await store.erase([{ endpoint: "default", eventId: "evt_1" }], ANN);
  expect(await store.wipe(ANN)).toMatch(/reader/);
  expect(filesWith(dirname(path), ANN)).not.toBe("");
  reader.exec("COMMIT");
  reader.close();
  expect(await store.wipe(ANN)).toBe(null);
  expect(filesWith(dirname(path), ANN)).toBe("");
  await store.close("default");
});

test("what a row left in the unused part of a page, when it was moved, is found", async () => {
  const path = inboxPath();
  const store = await opened(sqliteStore(path));
  const events = Array.from({ length: 800 }, (_, index) => {
    const body = Buffer.from(`${ANN} ${"x".repeat((index * 977) % 3000)}`);
    return newEvent({ eventId: `evt_${index}`, state: "leased", subject: `${ANN}-${index}`, body });
  });
  for (let from = 0; from < events.length; from += 40) {
    const { accepts } = await accept(store, ...events.slice(from, from + 40));
    // Each error makes a row longer, so that others move to other pages.
    const settlements = accepts.map(({ seq }) => {
      const lastError = seq % 2 ? "e".repeat((seq * 613) % 1500) : null;
      return settlement({ seq, token: 1 }, { state: "dead", lastError });
    });
    await store.commit(batchOf({ settlements }));
  }
  const keys = events.map(({ eventId }) => ({ endpoint: "default", eventId }));
  await store.erase(keys, null);
  const why = await store.wipe(null);
  expect(filesWith(dirname(path), ANN)).not.toBe("");
  expect(why).toMatch(/vacuum/);
  await store.close("default");
});
