import type { Database } from "../database/database.js";
import type { MonthIndex } from "../time/month.js";
import { ServiceError } from "../operations/service-error.js";

/** The month that answers are about. */
export interface ObservedMonth {
  month: MonthIndex;
  /** ISO 8601. */
  capturedAt: string;
}

/** @throws ServiceError `DATA_UNAVAILABLE`: nothing was observed yet */
export function readLatestMonth(database: Database): ObservedMonth {
  const row = database
    .prepare<[], { month: number; captured_at: number }>(
      "SELECT month, captured_at FROM observed_month ORDER BY month DESC LIMIT 1",
    )
    .get();
  if (row === undefined) {
    throw new ServiceError("DATA_UNAVAILABLE", "No month has been observed yet; try again later.");
  }
  return { month: row.month, capturedAt: new Date(row.captured_at).toISOString() };
}
