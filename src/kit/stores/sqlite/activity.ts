import type { Database } from "../../../base/sqlite/database.js";
import { MINUTE_MS } from "../../../base/time/units.js";
import {
  ACTIVITY_KEPT_MS,
  type Activity,
  type ActivityCounts,
  type ActivityQuery,
} from "../../inbox/activity.js";
import { activityOf, ADD_MINUTE, MINUTE_COLUMNS, MINUTE_SUMS } from "../rows.js";

/** Counts for each minute, in one small row, so that a commit writes one page for them. */
export function prepareActivity(db: Database) {
  const add = db.prepare(`
    INSERT INTO inbox_minute (endpoint, minute, ${MINUTE_COLUMNS.join(", ")})
    VALUES (?, ?${", ?".repeat(MINUTE_COLUMNS.length)}) ON CONFLICT (endpoint, minute) DO UPDATE SET ${ADD_MINUTE}`);
  const find = db.prepare<Record<string, unknown>, { at: number; sums: string }>(`
    SELECT (minute - minute % @minutes) * ${MINUTE_MS} AS at, json_array(${MINUTE_SUMS}) AS sums
    FROM inbox_minute WHERE endpoint = @endpoint AND minute BETWEEN @first AND @last GROUP BY at ORDER BY at`);
  const prune = db.prepare(`
    DELETE FROM inbox_minute WHERE endpoint = @endpoint AND minute IN
      (SELECT minute FROM inbox_minute WHERE endpoint = @endpoint AND minute < @first LIMIT @limit)`);
  return {
    add(endpoint: string, counts: ActivityCounts, now: number): void {
      const { accepted, handedOff, failed, ignored, durations: took } = counts;
      if (accepted + handedOff + failed === 0) return;
      add.run(endpoint, Math.floor(now / MINUTE_MS), accepted, handedOff, failed, ignored, ...took);
    },
    find(endpoint: string, { minutes, spans }: ActivityQuery, now: number): Activity[] {
      const last = Math.floor(now / MINUTE_MS);
      const first = last - (last % minutes) - (spans - 1) * minutes;
      return find
        .all({ endpoint, minutes, first, last })
        .map(({ at, sums }) => activityOf(at, JSON.parse(sums) as number[]));
    },
    /** Deletes at most `limit` minutes that are too old. */
    prune: (endpoint: string, limit: number, now: number) =>
      void prune.run({ endpoint, limit, first: Math.floor((now - ACTIVITY_KEPT_MS) / MINUTE_MS) }),
  };
}
