import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import { expect, test } from "vitest";
import { systemRandom } from "../../src/emulator/instance/random-source.js";
import { createManualClock, type ManualClock } from "../../src/testing/manual-clock.js";
import { tempFolder } from "../unit/temp-folder.js";
import { BEGINNING, startEmulator, usualDatabase, type RunningEmulator } from "./start-emulator.js";

const HOUR_MS = 3_600_000;
const iso = (atMs: number): string => new Date(atMs).toISOString();

const databasePath = (): string => join(tempFolder(), "emulator.db");

/** A file that an emulator made and closed. */
async function usedDatabase(): Promise<string> {
  const db = databasePath();
  copyFileSync(await usualDatabase(), db);
  return db;
}

/** The clock is read once more while the old world ends: then the new file is there, and nobody has it open. */
function clockThat(manual: ManualClock, db: string, whileTheOldEnds: () => void): { now: () => number } {
  let isDone = false;
  return {
    now() {
      if (!isDone && existsSync(`${db}.loading`) && !existsSync(`${db}.loading-wal`)) {
        isDone = true;
        whileTheOldEnds();
      }
      return manual.now();
    },
  };
}

test("a reset begins at the present, unless a beginning was given", async () => {
  const free = await startEmulator();
  await free.clock.advance(HOUR_MS);
  expect(await free.emulator.control.reset()).toEqual({ now: iso(BEGINNING + HOUR_MS) });
  expect((await free.emulator.control.now()).now).toBe(iso(BEGINNING + HOUR_MS));

  const given = await startEmulator({ startAt: "2026-03-04T00:00:00Z" });
  await given.clock.advance(HOUR_MS);
  expect(await given.emulator.control.reset()).toEqual({ now: "2026-03-04T00:00:00.000Z" });
});

test("a file keeps the beginning that it was made with, and what is given later goes before it", async () => {
  const db = databasePath();
  await (await startEmulator({ db, startAt: "2026-03-04T00:00:00Z", seed: 3 })).emulator.close();
  const again = await startEmulator({ db });
  expect(await again.emulator.control.reset()).toEqual({ now: "2026-03-04T00:00:00.000Z" });
  await again.emulator.close();
  const other = await startEmulator({ db, startAt: "2026-05-06T00:00:00Z", seed: 3 });
  expect(await other.emulator.control.reset()).toEqual({ now: "2026-05-06T00:00:00.000Z" });
});

test("a reset goes back to the accounts that a file was made with, unless some are given", async () => {
  const db = databasePath();
  const rankingsWith = async ({ ask }: RunningEmulator, key: string): Promise<number> =>
    (await ask("/research/rankings?limit=1", { key })).status;
  const first = { name: "First", tier: "pro", key: "a-key-of-the-first-start", scopes: ["research:read"] } as const;
  await (await startEmulator({ db, accounts: [first] })).emulator.close();
  const again = await startEmulator({ db });
  const other = await again.account("pro");
  await again.emulator.control.reset();
  await again.emulator.control.reset();
  expect([await rankingsWith(again, first.key), await rankingsWith(again, other.key)]).toEqual([200, 401]);
  const { items } = await again.emulator.control.listKeys({ account_id: 1 });
  expect(items).toMatchObject([{ hint: "a-key-", scopes: ["research:read"] }]);
  await again.emulator.close();
  const second = { ...first, key: "a-key-of-another-start" };
  const told = await startEmulator({ db, accounts: [second] });
  await told.emulator.control.reset();
  expect([await rankingsWith(told, first.key), await rankingsWith(told, second.key)]).toEqual([401, 200]);
});

test.each(["in memory", "with a file"])("a snapshot goes on at the moment at which it was taken: %s", async (place) => {
  const own = await startEmulator(place === "in memory" ? { seed: 1 } : { db: await usedDatabase() });
  const bytes = await own.emulator.control.snapshot();
  await own.clock.advance(HOUR_MS);
  expect(await own.emulator.control.loadSnapshot({ bytes })).toEqual({ now: iso(BEGINNING) });
  await own.clock.advance(1000);
  expect((await own.emulator.control.now()).now).toBe(iso(BEGINNING + 1000));
});

test("a reset in memory that fails changes nothing", async () => {
  let isBroken = false;
  const random = {
    ...systemRandom,
    bytes(size: number): Buffer {
      if (isBroken) throw new Error("no random bytes");
      return Buffer.from(systemRandom.bytes(size));
    },
  };
  const accounts = [{ name: "First", tier: "pro", key: "a-key-of-one-account" }] as const;
  const own = await startEmulator({ random, accounts });
  const { key } = await own.account("pro");
  isBroken = true;
  await expect(own.emulator.control.reset()).rejects.toThrow("no random bytes");
  isBroken = false;
  expect((await own.ask("/research/rankings?limit=1", { key })).status).toBe(200);
  await own.emulator.control.reset();
  expect((await own.ask("/research/rankings?limit=1", { key })).status).toBe(401);
});

test("a reset and a snapshot for which there is no room beside the file change nothing", async () => {
  const db = await usedDatabase();
  const own = await startEmulator({ db });
  const { key } = await own.account("pro");
  const bytes = await own.emulator.control.snapshot();
  mkdirSync(join(`${db}.loading`, "in the way"), { recursive: true });
  const { reset, loadSnapshot } = own.emulator.control;
  for (const change of [() => reset(), () => loadSnapshot({ bytes })]) {
    await expect(change()).rejects.toMatchObject({
      code: "DATA_UNAVAILABLE",
      message: expect.stringContaining("Nothing changed"),
    });
    expect((await own.ask("/research/rankings?limit=1", { key })).status).toBe(200);
  }
  await own.emulator.close();
  const later = await startEmulator({ db });
  expect((await later.ask("/research/rankings?limit=1", { key })).status).toBe(200);
});

test("a new file that cannot take the place of the old one leaves the old one at work", async () => {
  const db = await usedDatabase();
  const beside = `${db}.loading`;
  const manual = createManualClock(BEGINNING);
  let isThief = false;
  // The clock is read once more while the old world ends: then the new file is there, and nobody has it open.
  const now = (): number => {
    if (isThief && existsSync(beside) && !existsSync(`${beside}-wal`)) rmSync(beside);
    return manual.now();
  };
  const own = await startEmulator({ db, clock: { ...manual, now } });
  const { key } = await own.account("pro");
  isThief = true;
  await expect(own.emulator.control.reset()).rejects.toMatchObject({ code: "DATA_UNAVAILABLE" });
  isThief = false;
  expect((await own.ask("/research/rankings?limit=1", { key })).status).toBe(200);
  await own.emulator.control.reset();
  expect((await own.ask("/research/rankings?limit=1", { key })).status).toBe(401);
  await own.emulator.close();
  expect(readdirSync(join(db, ".."))).toEqual(["emulator.db"]);
});

test("a new file's clock is at the present, however long the old world took to end", async () => {
  const db = await usedDatabase();
  const manual = createManualClock(BEGINNING);
  const { now } = clockThat(manual, db, () => manual.setNow(BEGINNING + HOUR_MS));
  const own = await startEmulator({ db, clock: { ...manual, now } });
  expect(await own.emulator.control.reset()).toEqual({ now: iso(BEGINNING + HOUR_MS) });
});

test("a file that cannot be opened again leaves no emulator, and says so to every call", async () => {
  const db = await usedDatabase();
  const manual = createManualClock(BEGINNING);
  const { now } = clockThat(manual, db, () => {
    rmSync(db);
    mkdirSync(db);
  });
  const lines: string[] = [];
  const logger = pino({}, { write: (line) => void lines.push(line) });
  const own = await startEmulator({ db, clock: { ...manual, now }, logger });
  const { url, control } = own.emulator;
  const reset = await fetch(`${url}/_emulator/reset`, { method: "POST" });
  const message = expect.stringMatching(
    /^The emulator's file could not be opened again\. (?!.*Nothing changed)/,
  ) as string;
  expect([reset.status, await reset.json()]).toMatchObject([503, { error: { code: "DATA_UNAVAILABLE", message } }]);
  expect(lines.join("")).toContain("could not be opened again");
  expect(await own.ask("/research/rankings")).toMatchObject({ status: 503, body: { error: { message } } });
  await expect(control.now()).rejects.toMatchObject({ code: "emulator_not_running" });
});

test("the Date of an answer to a reset is by the clock that the reset made", async () => {
  const { emulator } = await startEmulator({ startAt: "2026-03-04T00:00:00Z" });
  await emulator.control.advance({ days: 2 });
  const { headers } = await fetch(`${emulator.url}/_emulator/reset`, { method: "POST" });
  expect(headers.get("date")).toBe("Wed, 04 Mar 2026 00:00:00 GMT");
});

test("a file and what stands beside it are its owner's alone, also after a reset and a loaded snapshot", async () => {
  const db = await usedDatabase();
  const folder = join(db, "..");
  const own = await startEmulator({ db });
  const { snapshot, reset, loadSnapshot } = own.emulator.control;
  const bytes = await snapshot();
  for (const change of [() => Promise.resolve(), () => reset(), () => loadSnapshot({ bytes })]) {
    await change();
    await own.account("pro");
    const names = readdirSync(folder);
    expect(names).toContain("emulator.db-wal");
    for (const name of names) expect([name, statSync(join(folder, name)).mode & 0o777]).toEqual([name, 0o600]);
  }
});
