import { once } from "node:events";
import { readdirSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openSqlite } from "../open-sqlite.js";
import { createManualClock } from "../../src/kit/testing/manual-clock.js";
import { openDatabase } from "../../src/service/emulator/database/open-database.js";
import { createEmulator } from "../../src/service/emulator/instance/create-emulator.js";
import type { EmulatorOptions } from "../../src/service/emulator/instance/options.js";
import { tempFolder } from "../unit/temp-folder.js";
import { startEmulator } from "./start-emulator.js";

test("start and close are idempotent, and nothing works before and after", async () => {
  const emulator = createEmulator({ port: 0 });
  expect(() => emulator.url).toThrow(expect.objectContaining({ code: "emulator_not_running" }));
  expect(() => emulator.control).toThrow(expect.objectContaining({ code: "emulator_not_running" }));
  await Promise.all([emulator.start(), emulator.start()]);
  const { url, control } = emulator;
  expect((await fetch(`${url}/openapi.json`)).status).toBe(200);
  await Promise.all([emulator.close(), emulator.close()]);
  await expect(fetch(url)).rejects.toThrow();
  await expect(emulator.start()).rejects.toMatchObject({ code: "emulator_not_running" });
  await expect(control.now()).rejects.toMatchObject({ code: "emulator_not_running" });
});

test("a close ends calls whose body has not arrived, and nothing is thrown", async () => {
  const { emulator } = await startEmulator();
  const socket = connect(Number(new URL(emulator.url).port), "127.0.0.1");
  const ended = once(socket, "close");
  await once(socket, "connect");
  socket.write(
    "POST /_emulator/accounts HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{",
  );
  await emulator.control.now();
  await emulator.close();
  await ended;
});

test("one that was never started closes too", async () => {
  await createEmulator().close();
});

test("a port that is taken is told, and the next one works", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const emulator = createEmulator({ port, db: join(tempFolder(), "emulator.db") });
  await expect(emulator.start()).rejects.toMatchObject({
    code: "port_in_use",
    message: expect.stringContaining(String(port)),
  });
  await emulator.close();
});

const ONE_KEY = { name: "x", tier: "pro", key: "the-same-key-twice" } as const;
const wrongOptions: readonly (readonly [given: object, code: string, words: string])[] = [
  [{ prot: 1 }, "option_unknown", 'Did you mean "port"?'],
  [{ port: -1 }, "option_invalid", '"port"'],
  [{ accounts: [{ ...ONE_KEY, scope: [] }] }, "option_unknown", 'Did you mean "scopes"?'],
  [{ startAt: "2026-02-30T00:00:00Z" }, "option_invalid", '"startAt"'],
  [
    { assumptions: { signatureClok: "machine" } },
    "option_unknown",
    'Did you mean "signatureClock"?',
  ],
  [{ accounts: [{ name: "x", tier: "pro", key: "short" }] }, "option_invalid", "accounts.0.key"],
  [
    { accounts: [ONE_KEY, { ...ONE_KEY, name: "y" }] },
    "option_invalid",
    "two accounts have the same key",
  ],
];

test.each(wrongOptions)(
  "an option that makes no sense is refused by name: %j",
  (given, code, words) => {
    expect(() => createEmulator(given)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(words) }),
    );
    expect(() => createEmulator(given)).not.toThrow(/Invalid |Too |received/);
  },
);

test("a file that is none of ours is left as it is", async () => {
  const place = tempFolder();
  writeFileSync(join(place, "text.db"), "this is a text, and long enough to be one of some kind");
  const other = openSqlite(join(place, "other.db"));
  other.exec("CREATE TABLE mine (x)");
  other.close();
  for (const name of ["text.db", "other.db"]) {
    const emulator = createEmulator({ port: 0, db: join(place, name) });
    await expect(emulator.start()).rejects.toMatchObject({ code: "store_unsupported" });
    await emulator.close();
  }
  expect(readdirSync(place).sort()).toEqual(["other.db", "text.db"]);
});

test("a file of another version, one in use, and one of another seed are refused", async () => {
  const db = join(tempFolder(), "deep", "emulator.db");
  const first = createEmulator({ port: 0, db, seed: 7 });
  await first.start();
  const second = createEmulator({ port: 0, db });
  await expect(second.start()).rejects.toMatchObject({ code: "store_in_use" });
  await first.close();
  const otherSeed = createEmulator({ port: 0, db, seed: 8 });
  await expect(otherSeed.start()).rejects.toMatchObject({
    code: "option_invalid",
    message: expect.stringContaining("seed"),
  });
  const file = openSqlite(db);
  file.exec("CREATE TABLE later (x)");
  file.close();
  const newer = createEmulator({ port: 0, db });
  await expect(newer.start()).rejects.toMatchObject({
    code: "store_unsupported",
    message: expect.stringContaining("version"),
  });
});

test("a file whose process ended right after it had made the tables is begun anew", async () => {
  const db = join(tempFolder(), "emulator.db");
  openDatabase(db).close();
  const key = "a-key-of-one-account";
  const { ask, emulator } = await startEmulator({
    db,
    accounts: [{ name: "Mine", tier: "pro", key }],
  });
  const asked = await ask("/research/rankings?limit=1", { key });
  expect(asked.status).toBe(200);
  const usual = await startEmulator({ accounts: [{ name: "Mine", tier: "pro", key }] });
  expect(asked.body["items"]).toEqual(
    (await usual.ask("/research/rankings?limit=1", { key })).body["items"],
  );
  // No more than a quarter of a key is kept as it is.
  const { items } = await emulator.control.listKeys({ account_id: 1 });
  expect(items.map(({ hint }) => hint)).toEqual(["a-key"]);
});

test("a file whose tables have other comments and white space is used", async () => {
  const db = join(tempFolder(), "emulator.db");
  openDatabase(db).close();
  const file = openSqlite(db);
  const older = join(tempFolder(), "older.db");
  const copy = openSqlite(older);
  const schema = file.prepare<[], string>("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL");
  for (const sql of schema.pluck().all())
    copy.exec(sql.replaceAll("\n", " -- an older comment\n\n"));
  copy.pragma(`application_id = ${String(file.pragma("application_id", { simple: true }))}`);
  copy.close();
  file.close();
  await startEmulator({ db: older });
});

test("a folder that cannot be made is told", async () => {
  const file = join(tempFolder(), "file");
  writeFileSync(file, "");
  const emulator = createEmulator({ port: 0, db: join(file, "emulator.db") });
  await expect(emulator.start()).rejects.toMatchObject({ code: "store_failed" });
});

test("after a restart with a file everything is there and goes on", async () => {
  const db = join(tempFolder(), "emulator.db");
  const options: EmulatorOptions = { db, seed: 7 };
  const before = await startEmulator(options);
  const { key, accountId } = await before.account("developer");
  const { body } = await before.ask("/research/rankings?limit=1", { key });
  const slug = (body["items"] as { slug: string }[])[0]?.slug ?? "";
  const start = {
    slug,
    idempotency_key: "3f0c9a52-5a44-4c8e-9d6f-7b1f2a9c0001",
    confirm_usage: true,
  };
  const task = await before.ask("/research/promotion-investigations", { key, body: start });
  expect(task.status).toBe(202);
  const { token } = await before.emulator.control.createSession({ account_id: accountId });
  await before.emulator.control.advance({ seconds: 30 });
  await before.emulator.close();

  // The clock went on meanwhile: by the machine's clock five minutes passed.
  const after = await startEmulator({ db, clock: createManualClock(before.clock.now() + 300_000) });
  expect((await after.emulator.control.now()).now).toBe(
    new Date(before.clock.now() + 330_000).toISOString(),
  );
  await after.emulator.close();
  const later = await startEmulator({
    db,
    startAt: new Date(before.clock.now() + 630_000).toISOString(),
  });
  expect((await later.emulator.control.now()).now).toBe(
    new Date(before.clock.now() + 630_000).toISOString(),
  );
  const rankings = await later.ask("/research/rankings?limit=1", { key });
  expect([rankings.status, rankings.headers.get("x-quota-remaining")]).toEqual([200, "47"]);
  expect((await later.ask("/research/rankings?limit=1", { key: token })).status).toBe(200);
  await later.emulator.control.settle();
  const path = `/research/promotion-investigations/${task.body["task_id"] as string}`;
  const read = await later.ask(path, { key });
  expect(read.body).toMatchObject({
    status: "succeeded",
    stage: "complete",
    created_at: task.body["created_at"],
  });
  const again = await later.ask("/research/promotion-investigations", { key, body: start });
  expect(again.body["task_id"]).toBe(task.body["task_id"]);
});
