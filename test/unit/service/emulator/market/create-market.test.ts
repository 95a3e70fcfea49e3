import { expect, test } from "vitest";
import { createManualClock } from "../../../../../src/kit/testing/manual-clock.js";
import {
  openSqlite,
  type Database,
} from "../../../../../src/service/emulator/database/database.js";
import { assumptionsSchema } from "../../../../../src/service/emulator/instance/assumption-options.js";
import type { EmulatorCore } from "../../../../../src/service/emulator/instance/core.js";
import { systemRandom } from "../../../../../src/service/emulator/instance/random-source.js";
import { createMarket } from "../../../../../src/service/emulator/market/create-market.js";
import type { SignalDraft } from "../../../../../src/service/emulator/market/signals/derive-signals.js";
import { createEmulatorClock } from "../../../../../src/service/emulator/time/emulator-clock.js";
import {
  createScheduler,
  type DueWork,
} from "../../../../../src/service/emulator/time/scheduler.js";
import { countOf, digestOf, digestsOf, emptyMarket, LAST, madeMarket } from "./made-market.js";

const START = Date.UTC(2026, 10, 19, 12);
const OBSERVED = Date.UTC(2026, 11, 2, 6);
const MINUTE = 60_000;
/** A market of three months, which each test continues in a copy of its own. */
const MONTHS = 3;
const made = madeMarket(1, LAST, MONTHS).serialize();

interface Running {
  work: DueWork;
  core: EmulatorCore;
  published: { draft: SignalDraft; at: number; now: number }[];
  failures: unknown[];
}

function run({
  database = openSqlite(made),
  startMs = START,
  seed = 1,
  onSignal = () => undefined,
}: {
  database?: Database;
  startMs?: number;
  seed?: number;
  onSignal?: () => void;
}): Running {
  const base = createManualClock(startMs);
  const clock = createEmulatorClock(base);
  const failures: unknown[] = [];
  const scheduler = createScheduler(clock, base, (error) => failures.push(error));
  const core: EmulatorCore = {
    database,
    clock,
    scheduler,
    random: systemRandom,
    assumptions: assumptionsSchema.parse({}),
  };
  const published: Running["published"] = [];
  const work = createMarket(core, seed, (draft, at) => {
    onSignal();
    published.push({ draft, at, now: clock.now() });
  });
  scheduler.add(work);
  return { work, core, published, failures };
}

const lastMonth = (database: Database): number =>
  countOf(database, "SELECT max(month) FROM observed_month");

test("a new database is filled from the seed, up to the last month that is observed by now", () => {
  const { database } = run({ database: emptyMarket(), startMs: OBSERVED - 1, seed: 5 }).core;
  expect([lastMonth(database), countOf(database, "SELECT seed FROM catalog_origin")]).toEqual([
    LAST,
    5,
  ]);
  expect(lastMonth(run({ database: emptyMarket(), startMs: OBSERVED }).core.database)).toBe(
    LAST + 1,
  );
});

test("a month that ended is observed on its day, and its signals go out type after type", async () => {
  const { core, published, work } = run({});
  expect(work.nextDueAt()).toBe(OBSERVED);
  await core.scheduler.advanceTo(OBSERVED - 1);
  expect([lastMonth(core.database), published.length]).toEqual([LAST, 0]);
  await core.scheduler.advanceTo(OBSERVED);
  expect(lastMonth(core.database)).toBe(LAST + 1);
  expect(new Set(published.map(({ draft }) => draft.signal_type)).size).toBe(1);
  await core.scheduler.advanceTo(OBSERVED + 24 * 60 * MINUTE);
  expect(published.length).toBeGreaterThan(80);
  expect(published.filter(({ at, now }) => at !== now)).toEqual([]);
  const types = [...new Set(published.map(({ draft }) => draft.signal_type))];
  for (const { draft, at } of published) {
    expect(at).toBe(OBSERVED + types.indexOf(draft.signal_type) * 10 * MINUTE);
    expect(draft.observed_at).toBe(OBSERVED);
    expect(draft.period).toEqual({ start: "2026-11-01", end: "2026-11-30" });
  }
  expect(countOf(core.database, "SELECT count(*) FROM due_signal")).toBe(0);
});

test("a restart goes on between two types, and does no month and no signal twice", async () => {
  const whole = run({});
  await whole.core.scheduler.advanceTo(OBSERVED + 24 * 60 * MINUTE);
  const before = run({});
  await before.core.scheduler.advanceTo(OBSERVED + 45 * MINUTE);
  await before.core.scheduler.close();
  expect(before.published.length).toBeGreaterThan(0);
  // The seed of the data counts, not the one that the restart was given.
  const after = run({ database: before.core.database, startMs: OBSERVED + 45 * MINUTE, seed: 99 });
  await after.core.scheduler.advanceTo(OBSERVED + 24 * 60 * MINUTE);
  expect([...before.published, ...after.published]).toEqual(whole.published);
  expect(digestsOf(after.core.database)).toEqual(digestsOf(whole.core.database));
  const later = run({
    database: after.core.database,
    startMs: OBSERVED + 24 * 60 * MINUTE,
    seed: 99,
  });
  await later.core.scheduler.advanceTo(OBSERVED + 40 * 24 * 60 * MINUTE);
  const atOnce = madeMarket(1, LAST + 2, MONTHS + 2);
  expect(digestOf(later.core.database, "product_month")).toBe(digestOf(atOnce, "product_month"));
});

test("a month whose rows cannot be written leaves nothing behind, and is tried again", async () => {
  const { core, published, failures } = run({});
  const before = digestsOf(core.database);
  core.database.exec(
    "CREATE TRIGGER full BEFORE INSERT ON due_signal BEGIN SELECT raise(ABORT, 'disk is full'); END",
  );
  await core.scheduler.advanceTo(OBSERVED + MINUTE / 2);
  expect(digestsOf(core.database)).toEqual(before);
  expect(failures).toHaveLength(1);
  core.database.exec("DROP TRIGGER full");
  await core.scheduler.advanceTo(OBSERVED + 24 * 60 * MINUTE);
  const undisturbed = run({});
  await undisturbed.core.scheduler.advanceTo(OBSERVED + 24 * 60 * MINUTE);
  expect(digestsOf(core.database)).toEqual(digestsOf(undisturbed.core.database));
  expect(published.map(({ draft }) => draft)).toEqual(
    undisturbed.published.map(({ draft }) => draft),
  );
});

test("a listener that fails is heard of, and its signals stay", async () => {
  let failing = true;
  const onSignal = (): void => {
    if (failing) throw new TypeError("a mistake of ours");
  };
  const { core, published, failures } = run({ onSignal });
  await core.scheduler.advanceTo(OBSERVED);
  expect(failures).toEqual([new TypeError("a mistake of ours")]);
  expect(lastMonth(core.database)).toBe(LAST + 1);
  expect(countOf(core.database, "SELECT count(*) FROM due_signal")).toBeGreaterThan(80);
  failing = false;
  expect(published).toEqual([]);
  await core.scheduler.advanceTo(OBSERVED + MINUTE);
  expect(published.length).toBeGreaterThan(0);
});
