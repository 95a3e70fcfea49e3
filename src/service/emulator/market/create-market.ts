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
import { deriveSignals, type SignalDraft } from "./signals/derive-signals.js";

/** Publishing the signals of a month takes hours, one type after another, rather than a moment. */
const MINUTES_BETWEEN_SIGNAL_TYPES = 10;
const MINUTE_MS = 60_000;

/** Called when a signal is published, in the transaction that takes the signal from the queue. */
type PublishSignal = (draft: SignalDraft, publishedAt: number) => void;

/**
 * Fills empty tables up to the last month that is observed by now. A database with data continues
 * with its data and its stored seed.
 *
 * @returns the scheduled work: observe each month on its day, then publish its signals
 */
export function createMarket(
  { database, clock }: EmulatorCore,
  seed: number,
  publishSignal: PublishSignal,
): DueWork {
  const lastMonth = () =>
    database.value<MonthIndex | null>("SELECT max(month) FROM observed_month") ?? null;
  const nextMonth = (): MonthIndex => (lastMonth() ?? lastObserved(clock.now())) + 1;
  let generator: MarketGenerator | undefined;
  if (lastMonth() === null)
    generator = generateMarket(database, { seed, lastMonth: nextMonth() - 1 });

  // One transaction writes a month and its signals, so an interrupted month is repeated completely.
  const observe = database.transaction((month: MonthIndex): void => {
    // If the month fails, the generator has changed but the tables have not. The next try then
    // builds a new generator.
    const before = generator;
    generator = undefined;
    const grown = growMonth(database, month, before);
    const drafts = deriveSignals(database, month);
    const types = [...new Set(drafts.map(({ signal_type }) => signal_type))];
    for (const draft of drafts) {
      const minutes = types.indexOf(draft.signal_type) * MINUTES_BETWEEN_SIGNAL_TYPES;
      const due_at = observedAt(month) + minutes * MINUTE_MS;
      database.put("due_signal", { due_at, draft: JSON.stringify(draft) });
    }
    generator = grown;
  });

  const publish = database.transaction((dueAt: number): void => {
    const sql = "SELECT draft FROM due_signal WHERE due_at = ? ORDER BY due_signal_id";
    const drafts = database.rows<{ draft: string }>(sql, dueAt);
    database.run("DELETE FROM due_signal WHERE due_at = ?", dueAt);
    for (const { draft } of drafts) publishSignal(JSON.parse(draft) as SignalDraft, dueAt);
  });

  /** Returns the work that is due first. The signals of a month come before the next month. */
  function nextDue(): { at: number; run(): void } {
    const month = nextMonth();
    const monthAt = observedAt(month);
    const signalsAt = database.value<number | null>("SELECT min(due_at) FROM due_signal") ?? null;
    if (signalsAt !== null && signalsAt <= monthAt)
      return { at: signalsAt, run: () => publish(signalsAt) };
    return { at: monthAt, run: () => observe(month) };
  }

  return {
    nextDueAt: () => nextDue().at,
    async runDue(nowMs) {
      // A failed step leaves no rows, so the scheduler can repeat it.
      for (let due = nextDue(); due.at <= nowMs; due = nextDue()) due.run();
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
 * Adds the next month. The rows are the same as if `generateMarket` had made
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
  let grown = generator;
  if (grown?.nextMonth !== month) {
    const [{ seed, first_month }] = database.rows<{ seed: number; first_month: MonthIndex }>(
      "SELECT seed, first_month FROM catalog_origin",
    ) as [{ seed: number; first_month: MonthIndex }];
    grown = createMarketGenerator(seed, first_month);
    while (grown.nextMonth < month) grown.advance(NO_WRITER);
  }
  grown.advance(createMarketWriter(database));
  return grown;
}
