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

/** The months between two turning points of the traffic. */
export interface TrafficPhase {
  direction: "up" | "down" | "flat";
  /** The change of the visits, relative to the visits before. */
  ratio: number;
  from: TrafficMonth;
  to: TrafficMonth;
}

/** A smaller change counts as flat. */
const FLAT_BELOW = 0.05;
/** A phase ends when the visits move against its direction by so much. */
const TURN = 0.15;

export function phaseBetween(from: TrafficMonth, to: TrafficMonth): TrafficPhase {
  const ratio = from.visits === 0 ? 0 : (to.visits - from.visits) / from.visits;
  return { direction: Math.abs(ratio) < FLAT_BELOW ? "flat" : ratio > 0 ? "up" : "down", ratio, from, to };
}

/** Divides a series at its turning points. */
export function trafficPhases([first, ...later]: readonly TrafficMonth[]): TrafficPhase[] {
  if (first === undefined) return [];
  const phases: TrafficPhase[] = [];
  let [from, to] = [first, first];
  for (const month of later) {
    const isTurn = (month.visits - to.visits) * (to.visits - from.visits) < 0;
    if (isTurn && Math.abs(phaseBetween(to, month).ratio) < TURN) continue;
    if (isTurn) {
      phases.push(phaseBetween(from, to));
      from = to;
    }
    to = month;
  }
  phases.push(phaseBetween(from, to));
  const last = later.at(-1);
  return last === undefined || last === to ? phases : [...phases, phaseBetween(to, last)];
}
