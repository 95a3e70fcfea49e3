import type { Database } from "../../database/database.js";
import type { MonthIndex } from "../../time/month.js";
import { createMarketWriter, NO_WRITER } from "./market-writer.js";
import { createMarketGenerator, type MarketGenerator } from "./market-generator.js";

export interface MarketOptions {
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
