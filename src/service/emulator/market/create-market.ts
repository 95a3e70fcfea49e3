import type { Database } from "../database/database.js";
import type { EmulatorCore } from "../instance/core.js";
import { monthOf, type MonthIndex } from "../time/emulator-clock.js";
import type { DueWork } from "../time/scheduler.js";
import {
  observedAt,
  type MarketGenerator,
  createMarketGenerator,
} from "./generator/market-generator.js";
import { createMarketWriter, NO_WRITER } from "./generator/write-product.js";
import { deriveSignals } from "./signals/derive-signals.js";
import { createDueSignals, type SignalDraft } from "./signals/due-signals.js";

/** Publishing the signals of a month takes hours, one type after another, rather than a moment. */
const MINUTES_BETWEEN_SIGNAL_TYPES = 10;

/** Called when a signal is published, in the transaction that takes the signal from the queue. */
type SignalListener = (draft: SignalDraft, publishedAt: number) => void;

/** The observed data. The clock adds months to it. */
export interface Market {
  /** The scheduled work: observe each month on its day, then publish its signals. */
  work: DueWork;
  onSignals(listener: SignalListener): void;
}

/**
 * Fills empty tables up to the last month that is observed by now. A database with data continues
 * with its data and its stored seed.
 */
export function createMarket(core: EmulatorCore, { seed }: { seed: number }): Market {
  const { database, clock } = core;
  const dueSignals = createDueSignals(database);
  const listeners: SignalListener[] = [];
  const lastMonth = database
    .prepare<[], MonthIndex | null>("SELECT max(month) FROM observed_month")
    .pluck();
  const nextMonth = (): MonthIndex => (lastMonth.get() ?? lastObserved(clock.now())) + 1;
  let generator: MarketGenerator | undefined;
  if (lastMonth.get() === null)
    generator = generateMarket(database, { seed, lastMonth: nextMonth() - 1 });

  // One transaction writes a month and its signals, so an interrupted month is repeated completely.
  const observe = database.transaction(
    (known: MarketGenerator | undefined, month: MonthIndex): MarketGenerator => {
      const grown = growMonth(database, month, known);
      const drafts = deriveSignals(database, month);
      dueSignals.add(drafts, observedAt(month), MINUTES_BETWEEN_SIGNAL_TYPES);
      return grown;
    },
  );

  const publish = database.transaction((): void => {
    for (const { draft, dueAt } of dueSignals.takeFirst()) {
      for (const listener of listeners) listener(draft, dueAt);
    }
  });

  /** Returns the work that is due first. The signals of a month come before the next month. */
  function nextDue(): { at: number; run(): void } {
    const month = nextMonth();
    const monthAt = observedAt(month);
    const signalsAt = dueSignals.nextDueAt();
    if (signalsAt !== null && signalsAt <= monthAt) return { at: signalsAt, run: publish };
    return {
      at: monthAt,
      run() {
        // If a month fails, the generator has changed but the tables have not. The next try then
        // builds a new generator.
        const before = generator;
        generator = undefined;
        generator = observe(before, month);
      },
    };
  }

  return {
    onSignals: (listener) => void listeners.push(listener),
    work: {
      nextDueAt: () => nextDue().at,
      async runDue(nowMs) {
        // A failed step leaves no rows, so the scheduler can repeat it.
        for (let due = nextDue(); due.at <= nowMs; due = nextDue()) due.run();
      },
    },
  };
}

/** The last month that is observed at a time. */
function lastObserved(atMs: number): MonthIndex {
  const month = monthOf(atMs) - 1;
  return observedAt(month) <= atMs ? month : month - 1;
}

interface MarketOptions {
  /** A whole number. The same seed and months give the same data on every machine. */
  seed: number;
  /**
   * The number of months with traffic. Keywords are observed from the 13th month on. @default 24
   */
  months?: number;
  /** The last month that was observed. */
  lastMonth: MonthIndex;
}

/**
 * Fills the empty tables of the market, in one transaction.
 *
 * @returns the generator after the last month, for {@link growMonth}
 */
export function generateMarket(
  database: Database,
  { seed, months = 24, lastMonth }: MarketOptions,
): MarketGenerator {
  const firstMonth = lastMonth - months + 1;
  const generator = createMarketGenerator(seed, firstMonth);
  const fill = database.transaction(() => {
    const writer = createMarketWriter(database);
    writer.add("catalog_origin", 1, seed, firstMonth);
    while (generator.nextMonth <= lastMonth) generator.advance(writer);
  });
  fill();
  return generator;
}

/**
 * Adds the next month, in one transaction. The rows are the same as if `generateMarket` had made
 * this month too.
 *
 * @param month the month after the last observed month
 * @param generator the generator after the last observed month; without it, a new generator must
 * first compute the earlier months
 */
export function growMonth(
  database: Database,
  month: MonthIndex,
  generator?: MarketGenerator,
): MarketGenerator {
  const grow = database.transaction(() => {
    const grown = generator?.nextMonth === month ? generator : generatorAt(database, month);
    grown.advance(createMarketWriter(database));
    return grown;
  });
  return grow();
}

/** Makes a generator whose next month is `month`, of the data in the database. */
function generatorAt(database: Database, month: MonthIndex): MarketGenerator {
  const origin = database
    .prepare<[], { seed: number; first_month: MonthIndex }>(
      "SELECT seed, first_month FROM catalog_origin",
    )
    .get();
  if (origin === undefined) throw new RangeError("The database has no market.");
  const generator = createMarketGenerator(origin.seed, origin.first_month);
  while (generator.nextMonth < month) generator.advance(NO_WRITER);
  return generator;
}
