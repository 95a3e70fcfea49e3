import { copyFileSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { beforeAll, expect, test } from "vitest";
import type { AssumptionOptions } from "../../src/emulator/instance/assumption-options.js";
import { ASSUMPTIONS } from "../../src/emulator/instance/assumptions.js";
import { ASSUMPTION_ROWS, type World } from "./assumption-rows.js";
import { openEmulator, startEmulator } from "./start-emulator.js";

const KEY = "a-key-of-the-account-pro";
const DEVELOPER_KEY = "a-key-of-the-account-developer";
const folder = mkdtempSync(join(tmpdir(), "assumptions-"));
const made = join(folder, "made.db");
let copies = 0;

/** The data are made once: each emulator below goes on from a copy. */
beforeAll(async () => {
  const accounts = [
    { name: "Pro", tier: "pro", key: KEY },
    { name: "Developer Access", tier: "developer", key: DEVELOPER_KEY },
  ] as const;
  const { emulator } = await openEmulator({ db: made, accounts });
  await emulator.close();
});

async function worldWith(assumptions: AssumptionOptions): Promise<World> {
  const db = join(folder, `${++copies}.db`);
  copyFileSync(made, db);
  const running = await startEmulator({ db, assumptions });
  return { ...running, key: KEY, developerKey: DEVELOPER_KEY };
}

test.each(ASSUMPTION_ROWS)("$name changes what its text says", async (row) => {
  const { name, to, look, byDefault, switched, also } = row;
  expect(to).not.toEqual(ASSUMPTIONS[name].default);
  expect(await look(await worldWith({ ...also }))).toEqual(byDefault);
  expect(await look(await worldWith({ ...also, [name]: to }))).toEqual(switched);
});

test("minutesBetweenSignalTypes delays the types of a month after the first one", async () => {
  const typesIn = async (minutesBetweenSignalTypes: number): Promise<unknown> => {
    const { emulator } = await worldWith({ minutesBetweenSignalTypes });
    await emulator.control.advance({ to: "2026-11-02T06:00:00Z" });
    const database = new Database(await emulator.control.snapshot());
    const count = database.prepare("SELECT count(DISTINCT signal_type) FROM signal").pluck().get();
    database.close();
    return count;
  };
  expect(await typesIn(10)).toBe(1);
  expect(await typesIn(0)).toBeGreaterThan(25);
});

test("every assumption has a row here", () => {
  const rows = [...ASSUMPTION_ROWS.map(({ name }) => name), "minutesBetweenSignalTypes"];
  expect(rows.sort()).toEqual(Object.keys(ASSUMPTIONS).sort());
});
