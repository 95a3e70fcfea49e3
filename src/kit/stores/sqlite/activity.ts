import type { Database } from "better-sqlite3";
import { ACTIVITY_KEPT_MS, type Activity, type ActivityQuery } from "../../inbox/stored-events.js";
import { MINUTE_MS } from "../../../base/time/units.js";

/** What a commit counts; see G14 of the port. */
export type Counts = Omit<Activity, "at">;

/** Counts for each minute, in one small row, so that a commit writes one page for them. */
export function prepareActivity(db: Database) {
  const add = db.prepare(`
    INSERT INTO inbox_minute (endpoint, minute, accepted, handed_off, failed) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (endpoint, minute) DO UPDATE SET accepted = accepted + excluded.accepted,
      handed_off = handed_off + excluded.handed_off, failed = failed + excluded.failed`);
  const find = db.prepare<Record<string, unknown>, Activity>(`
    SELECT (minute - minute % @minutes) * ${MINUTE_MS} AS at,
      sum(accepted) AS accepted, sum(handed_off) AS handedOff, sum(failed) AS failed
    FROM inbox_minute WHERE endpoint = @endpoint AND minute BETWEEN @first AND @last GROUP BY at ORDER BY at`);
  const prune = db.prepare(`
    DELETE FROM inbox_minute WHERE endpoint = @endpoint AND minute IN
      (SELECT minute FROM inbox_minute WHERE endpoint = @endpoint AND minute < @first LIMIT @limit)`);
  return {
    add(endpoint: string, { accepted, handedOff, failed }: Counts, now: number): void {
      if (accepted + handedOff + failed === 0) return;
      add.run(endpoint, Math.floor(now / MINUTE_MS), accepted, handedOff, failed);
    },
    find(endpoint: string, { minutes, spans }: ActivityQuery, now: number): Activity[] {
      const last = Math.floor(now / MINUTE_MS);
      return find.all({
        endpoint,
        minutes,
        first: last - (last % minutes) - (spans - 1) * minutes,
        last,
      });
    },
    /** Deletes at most `limit` minutes that are too old. */
    prune: (endpoint: string, limit: number, now: number) =>
      void prune.run({ endpoint, limit, first: Math.floor((now - ACTIVITY_KEPT_MS) / MINUTE_MS) }),
  };
}
