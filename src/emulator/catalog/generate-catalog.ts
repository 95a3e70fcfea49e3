import type { Database } from "../database/database.js";
import type { MonthIndex } from "../time/month.js";
import { createCatalogWriter } from "./catalog-writer.js";
import { observedAt, OBSERVED_ON_DAY } from "./observed-at.js";
import { createWorld, createWorldAt, type World } from "./world/world.js";

export interface CatalogOptions {
  /** A whole number. Same seed and months, same data on every machine. */
  seed: number;
  /** How many months of traffic there are; keywords are observed from the 13th on. @default 24 */
  months?: number;
  /** The last month that was observed. */
  lastMonth: MonthIndex;
  /** On which day of the next month a month is observed. @default 2 */
  observedOnDay?: number;
}

/**
 * Fills the tables of the catalog, which are there and empty, in one transaction.
 *
 * @returns the world as it is after the last month, for {@link growMonth} to go on with
 */
export function generateCatalog(
  database: Database,
  { seed, months = 24, lastMonth, observedOnDay = OBSERVED_ON_DAY }: CatalogOptions,
): World {
  const firstMonth = lastMonth - months + 1;
  const world = createWorld(seed, firstMonth);
  const fill = database.transaction(() => {
    database
      .prepare("INSERT INTO catalog_origin (origin_id, seed, first_month) VALUES (1, ?, ?)")
      .run(seed, firstMonth);
    const writer = createCatalogWriter(database);
    while (world.nextMonth <= lastMonth) {
      writer.rows.observed_month.add(world.nextMonth, observedAt(world.nextMonth, observedOnDay));
      world.advance(writer);
    }
    writer.finish();
  });
  fill();
  return world;
}

/**
 * Adds the next month, in one transaction: growing month by month gives the same rows as generating them at once.
 *
 * @param month the month after the last one that was observed
 * @param world as it is before that month; without it, it is made anew from the beginning
 * @throws RangeError another month would leave a gap, or is there already
 */
export function growMonth(
  database: Database,
  seed: number,
  month: MonthIndex,
  { world, observedOnDay = OBSERVED_ON_DAY }: { world?: World; observedOnDay?: number } = {},
): World {
  const grow = database.transaction(() => {
    const observed = database
      .prepare<[], { first: number | null; last: number | null }>(
        "SELECT min(month) AS first, max(month) AS last FROM observed_month",
      )
      .get();
    if (observed?.first == null || month !== (observed.last ?? 0) + 1)
      throw new RangeError("growMonth adds the month after the last one");
    const grown = world?.nextMonth === month ? world : createWorldAt(seed, observed.first, month);
    const writer = createCatalogWriter(database);
    writer.rows.observed_month.add(month, observedAt(month, observedOnDay));
    grown.advance(writer);
    writer.finish();
    return grown;
  });
  return grow();
}
