import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openSqlite } from "../open-sqlite.js";
import { createManualClock } from "../../src/kit/testing/manual-clock.js";
import { tempFolder } from "../unit/temp-folder.js";
import { BEGINNING, startEmulator, usualDatabase, type RunningEmulator } from "./start-emulator.js";

const HOUR_MS = 3_600_000;
const RANKINGS = "/research/rankings?limit=1";
const iso = (atMs: number): string => new Date(atMs).toISOString();
const statusWith = async ({ ask }: RunningEmulator, key: string): Promise<number> =>
  (await ask(RANKINGS, { key })).status;

/** A file in a folder of its own, which an emulator made and closed. */
async function usedDatabase(): Promise<string> {
  const db = join(tempFolder(), "emulator.db");
  copyFileSync(await usualDatabase(), db);
  return db;
}

test.each(["in memory", "with a file"])(
  "a snapshot brings everything back: keys, quota, the data and the clock: %s",
  async (place) => {
    const own = await startEmulator(
      place === "in memory" ? { seed: 1 } : { db: await usedDatabase() },
    );
    const { snapshot, loadSnapshot, advance, now } = own.emulator.control;
    const { key } = await own.account("developer");
    const left = async () => (await own.ask(RANKINGS, { key })).headers.get("x-quota-remaining");
    expect(await left()).toBe("49");
    const bytes = await snapshot();
    expect(await left()).toBe("48");
    await advance({ months: 1 });
    await own.clock.advance(HOUR_MS);
    const { key: later } = await own.account("pro");
    expect(await loadSnapshot({ bytes })).toEqual({ now: iso(BEGINNING) });
    await own.clock.advance(1000);
    expect((await now()).now).toBe(iso(BEGINNING + 1000));
    expect([await statusWith(own, later), await left()]).toEqual([401, "48"]);
  },
);

test("a snapshot over HTTP is bytes, both ways; other bytes, and other tables than ours, change nothing", async () => {
  const own = await startEmulator();
  const { key } = await own.account("pro");
  const response = await fetch(`${own.emulator.url}/_emulator/snapshot`);
  expect(response.headers.get("content-type")).toBe("application/octet-stream");
  const bytes = Buffer.from(await response.arrayBuffer());
  await own.emulator.control.reset();
  expect(await statusWith(own, key)).toBe(401);
  const load = async (body: Uint8Array): Promise<number> => {
    const headers = { "Content-Type": "application/octet-stream" };
    const url = `${own.emulator.url}/_emulator/snapshot`;
    return (await fetch(url, { method: "POST", headers, body: Buffer.from(body) })).status;
  };
  const changed = (sql: string): Buffer => {
    const database = openSqlite(bytes);
    database.exec(sql);
    return database.serialize();
  };
  expect(await load(bytes)).toBe(200);
  const middle = bytes.length >> 1;
  for (const wrong of [
    Buffer.from("x"),
    Buffer.alloc(4096),
    Buffer.from(bytes).fill(0xff, middle, middle + 65_536),
    changed("CREATE TRIGGER mine AFTER INSERT ON account BEGIN DELETE FROM api_key; END"),
    changed("DROP TABLE attempt"),
    changed("UPDATE setting SET value = 'none'"),
  ]) {
    expect(await load(wrong)).toBe(400);
  }
  expect(await statusWith(own, key)).toBe(200);
});

test("a reset goes back to the data, the accounts and the beginning that a file was made with, unless others are given", async () => {
  const db = join(tempFolder(), "emulator.db");
  const first = {
    name: "First",
    tier: "pro",
    key: "a-key-of-the-first-start",
    scopes: ["research:read"],
  } as const;
  await (
    await startEmulator({ db, startAt: "2026-03-04T00:00:00Z", seed: 3, accounts: [first] })
  ).emulator.close();
  const again = await startEmulator({ db });
  const { url, control } = again.emulator;
  const ranked = async () =>
    (await again.ask("/research/rankings?limit=50", { key: first.key })).body["items"];
  const before = await ranked();
  const { key } = await again.account("pro");
  await control.advance({ months: 1 });
  expect(await ranked()).not.toEqual(before);
  expect(await control.reset()).toEqual({ now: "2026-03-04T00:00:00.000Z" });
  expect([again.emulator.url, await ranked(), await statusWith(again, key)]).toEqual([
    url,
    before,
    401,
  ]);
  await again.emulator.close();

  const second = { ...first, key: "a-key-of-another-start" };
  const told = await startEmulator({ db, startAt: "2026-05-06T00:00:00Z", accounts: [second] });
  expect(await told.emulator.control.reset()).toEqual({ now: "2026-05-06T00:00:00.000Z" });
  expect([await statusWith(told, first.key), await statusWith(told, second.key)]).toEqual([
    401, 200,
  ]);
});

test("the answer to what replaces the state has the new state's time in its header Date too", async () => {
  const { url, control } = (await startEmulator()).emulator;
  const bytes = Buffer.from(await control.snapshot());
  const headers = { "Content-Type": "application/octet-stream" };
  for (const asked of [["reset"], ["snapshot", { headers, body: bytes }]] as const) {
    await control.advance({ months: 1 });
    const response = await fetch(`${url}/_emulator/${asked[0]}`, { method: "POST", ...asked[1] });
    const { now } = (await response.json()) as { now: string };
    expect([now, response.headers.get("date")]).toEqual([
      iso(BEGINNING),
      new Date(now).toUTCString(),
    ]);
  }
});

test("without a beginning, a reset begins at the present", async () => {
  const own = await startEmulator();
  await own.emulator.control.advance({ days: 2 });
  await own.clock.advance(HOUR_MS);
  expect(await own.emulator.control.reset()).toEqual({ now: iso(BEGINNING + HOUR_MS) });
});

test("resets at once run in turn, and calls meanwhile get 200 or 503", async () => {
  const key = "sbk_a_key_that_is_always_the_same";
  const db = join(tempFolder(), "emulator.db");
  const own = await startEmulator({ db, accounts: [{ name: "First", tier: "pro", key }] });
  const calls = Array.from({ length: 40 }, () => statusWith(own, key));
  const { reset } = own.emulator.control;
  const resets = [reset(), reset()];
  expect((await Promise.all(calls)).filter((status) => status !== 200 && status !== 503)).toEqual(
    [],
  );
  await Promise.all(resets);
  expect(await statusWith(own, key)).toBe(200);
});

test("a change that cannot be written changes nothing", async () => {
  const db = await usedDatabase();
  const own = await startEmulator({ db });
  const { key } = await own.account("pro");
  const { reset, loadSnapshot, snapshot } = own.emulator.control;
  const bytes = await snapshot();
  mkdirSync(`${db}.loading`);
  for (const change of [() => reset(), () => loadSnapshot({ bytes })]) {
    const message = expect.stringContaining("Nothing changed") as string;
    await expect(change()).rejects.toMatchObject({ code: "DATA_UNAVAILABLE", message });
    expect(await statusWith(own, key)).toBe(200);
  }
  rmSync(`${db}.loading`, { recursive: true });
  await reset();
  expect(await statusWith(own, key)).toBe(401);
});

test("a new file that cannot take the place of the old one leaves the old one at work", async () => {
  const db = await usedDatabase();
  const manual = createManualClock(BEGINNING);
  // The clock is read while the old state ends: then the new file is there.
  const now = (): number => {
    if (existsSync(`${db}.loading`)) rmSync(`${db}.loading`);
    return manual.now();
  };
  const own = await startEmulator({ db, clock: { ...manual, now } });
  const { key } = await own.account("pro");
  await expect(own.emulator.control.reset()).rejects.toMatchObject({ code: "DATA_UNAVAILABLE" });
  expect(await statusWith(own, key)).toBe(200);
});

test("a file that cannot be opened again leaves an emulator that answers 503", async () => {
  const db = await usedDatabase();
  const manual = createManualClock(BEGINNING);
  const now = (): number => {
    if (existsSync(`${db}.loading`) && !statSync(db).isDirectory()) {
      rmSync(db);
      mkdirSync(db);
    }
    return manual.now();
  };
  const own = await startEmulator({ db, clock: { ...manual, now } });
  const { reset, snapshot } = own.emulator.control;
  await expect(reset()).rejects.toMatchObject({ code: "store_failed" });
  expect((await own.ask("/tools/any")).status).toBe(503);
  await expect(snapshot()).rejects.toMatchObject({ code: "DATA_UNAVAILABLE" });
});

test("a file and what stands beside it are its owner's alone, also after a reset and a loaded snapshot", async () => {
  const db = await usedDatabase();
  const own = await startEmulator({ db });
  const { snapshot, reset, loadSnapshot } = own.emulator.control;
  const bytes = await snapshot();
  writeFileSync(`${db}.loading`, "left by a crash", { mode: 0o644 });
  for (const change of [() => reset(), () => Promise.resolve(), () => loadSnapshot({ bytes })]) {
    await change();
    await own.account("pro");
    const names = readdirSync(join(db, ".."));
    expect(names).toContain("emulator.db-wal");
    for (const name of names)
      expect([name, statSync(join(db, "..", name)).mode & 0o777]).toEqual([name, 0o600]);
  }
});
