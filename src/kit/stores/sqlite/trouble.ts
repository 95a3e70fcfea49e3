import type { Database } from "../../../base/sqlite/database.js";
import {
  FAILED_AT_ONCE,
  FAILED_ERROR_LENGTH,
  MOST_REPORTS,
  REPORT_KEPT_MS,
  type FailedEvent,
  type StoredAlarm,
  type StoredReport,
} from "../../inbox/situation/trouble.js";
import type { InboxStore } from "../../inbox/store.js";
import { IF_KEPT } from "../rows.js";
import { HEAD, WAITING } from "./lanes.js";
import type { Steps } from "./queries.js";

/**
 * What people ask when something is wrong: which events fail, and what receivers say of themselves.
 */
export function prepareTrouble(db: Database) {
  const failing = (which: string) =>
    db.prepare<[string, number], FailedEvent>(`
      SELECT seq, event_id AS eventId, state, subject, substr(last_error, 1, ${FAILED_ERROR_LENGTH}) AS lastError,
        coalesce((SELECT min(at) FROM inbox_history h WHERE h.seq = inbox.seq AND kind <> 'replayed'), received_at) AS firstFailedAt,
        coalesce((SELECT max(at) FROM inbox_history h WHERE h.seq = inbox.seq AND kind <> 'replayed'), received_at) AS lastFailedAt,
        (SELECT count(*) FROM inbox_lane h CROSS JOIN inbox_lane w
           ON w.endpoint = h.endpoint AND w.lane = h.lane AND w.place = ${WAITING}
         WHERE h.endpoint = inbox.endpoint AND h.lane = inbox.lane AND h.place = ${HEAD} AND h.seq = inbox.seq) AS heldCount
      FROM inbox INDEXED BY ${which} AND last_error IS NOT NULL AND endpoint = ? AND seq < ? ORDER BY seq DESC LIMIT ${FAILED_AT_ONCE}`);
  const byState = {
    // A replayed event has failed only when it has failed again.
    ready: failing("inbox_failing WHERE state = 'ready' AND (attempts > 0 OR crashes > 1)"),
    dead: failing("inbox_dead WHERE state = 'dead'"),
  };
  const save = db.prepare<Record<string, string | number>>(
    `INSERT INTO inbox_report (endpoint, reporter, at, report) SELECT @endpoint, @reporter, @now, @report
     WHERE @isKnown = 0 OR EXISTS (SELECT 1 FROM inbox_report WHERE endpoint = @endpoint AND reporter = @reporter)
     ON CONFLICT DO UPDATE SET at = excluded.at, report = excluded.report`,
  );
  const forget = db.prepare<[string, number, string, number]>(
    `DELETE FROM inbox_report WHERE endpoint = ? AND (at < ? OR reporter NOT IN
       (SELECT reporter FROM inbox_report WHERE endpoint = ? ORDER BY at DESC LIMIT ?))`,
  );
  const reports = db.prepare<[string], StoredReport>(
    "SELECT at, report FROM inbox_report WHERE endpoint = ? ORDER BY at DESC",
  );
  const alarms = db.prepare<[string], StoredAlarm>(
    "SELECT kind, state FROM inbox_alarm WHERE endpoint = ?",
  );
  const setAlarm = db.prepare<(string | null)[]>(
    `INSERT INTO inbox_alarm (endpoint, kind, state) VALUES (?, ?, ?) ${IF_KEPT} ?`,
  );
  return {
    failing: (endpoint, state, beforeSeq) => byState[state].all(endpoint, beforeSeq),
    saveReport(endpoint, reporter, report, isKnown, nowAt) {
      const now = nowAt(endpoint);
      const values = { endpoint, reporter, now, report, isKnown: isKnown === true ? 1 : 0 };
      const isSaved = save.run(values).changes > 0;
      forget.run(endpoint, now - REPORT_KEPT_MS, endpoint, MOST_REPORTS);
      return isSaved;
    },
    reports: (endpoint) => reports.all(endpoint),
    alarms: (endpoint: string) => alarms.all(endpoint),
    setAlarm: (endpoint: string, kind: string, before: string | null, after: string) =>
      setAlarm.run(endpoint, kind, after, before).changes > 0,
  } satisfies Partial<Steps<keyof InboxStore>>;
}

export type Trouble = ReturnType<typeof prepareTrouble>;
