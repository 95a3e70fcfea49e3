import type { Database } from "../database/database.js";
import type { MonthIndex } from "../time/month.js";

/** The channels of visits. */
export const CHANNELS = ["organic", "paid", "ai_referral", "direct"] as const;
export type Channel = (typeof CHANNELS)[number];

/** The total visits of the given products in a month. */
export type TrafficMonth = Record<Channel, number> & { month: MonthIndex; visits: number };

/** Reads the observed months of these products, the oldest first. */
export function readTrafficSeries(database: Database, toolIds: readonly number[]): TrafficMonth[] {
  return database
    .prepare<[string], TrafficMonth>(
      `SELECT month, sum(organic) AS organic, sum(paid) AS paid, sum(ai_referral) AS ai_referral, sum(direct) AS direct,
         sum(organic + paid + ai_referral + direct) AS visits
       FROM observed_month CROSS JOIN json_each(?) chosen CROSS JOIN product_month USING (month)
       WHERE tool_id = chosen.value GROUP BY month ORDER BY month`,
    )
    .all(JSON.stringify(toolIds));
}

/** Consecutive months in which traffic changed in the same direction. */
export interface TrafficPhase {
  direction: "up" | "down" | "flat";
  from: TrafficMonth;
  to: TrafficMonth;
}

/** A smaller relative change from month to month counts as flat. */
const FLAT_BELOW = 0.03;

export function trafficPhases(series: readonly TrafficMonth[]): TrafficPhase[] {
  const phases: TrafficPhase[] = [];
  for (const [index, to] of series.entries()) {
    const from = series[index - 1];
    if (from === undefined) continue;
    const change = from.visits === 0 ? 0 : (to.visits - from.visits) / from.visits;
    const direction = Math.abs(change) < FLAT_BELOW ? "flat" : change > 0 ? "up" : "down";
    const last = phases.at(-1);
    if (last?.direction === direction) last.to = to;
    else phases.push({ direction, from, to });
  }
  return phases;
}
