import type { EmulatorCore } from "../instance/core.js";
import { monthOf, type MonthIndex } from "../time/month.js";
import type { DueWork } from "../time/scheduler.js";
import { generateMarket, growMonth } from "./generator/generate-market.js";
import { createDueSignals, type SignalDraft } from "./signals/due-signals.js";
import { deriveSignals } from "./signals/derive-signals.js";
import { observedAt, type MarketGenerator } from "./generator/market-generator.js";

/** Publishing the signals of a month takes hours, one type after another, rather than a moment. */
const MINUTES_BETWEEN_SIGNAL_TYPES = 10;

/** Called when a signal is published, in the transaction that takes the signal from the queue. */
export type SignalListener = (draft: SignalDraft, publishedAt: number) => void;

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
