import type { Database } from "better-sqlite3";
import {
  FAILED_AT_ONCE,
  FAILED_ERROR_LENGTH,
  MOST_REPORTS,
  REPORT_KEPT_MS,
  type FailedEvent,
  type StoredReport,
} from "../../inbox/stored-events.js";

/**
 * What people ask when something is wrong: which events fail, and what receivers say of themselves.
 */
export function prepareFailures(db: Database) {
  const failing = (which: string) =>
    db.prepare<[string, number], FailedEvent>(`
      SELECT seq, event_id AS eventId, state, subject, substr(last_error, 1, ${FAILED_ERROR_LENGTH}) AS lastError,
        coalesce((SELECT min(at) FROM inbox_history h WHERE h.seq = inbox.seq AND kind <> 'replayed'), received_at) AS firstFailedAt,
        coalesce((SELECT max(at) FROM inbox_history h WHERE h.seq = inbox.seq AND kind <> 'replayed'), received_at) AS lastFailedAt
      FROM inbox INDEXED BY ${which} AND last_error IS NOT NULL AND endpoint = ? AND seq < ? ORDER BY seq DESC LIMIT ${FAILED_AT_ONCE}`);
  const byState = {
    // A replayed event has failed only when it has failed again.
    ready: failing("inbox_failing WHERE state = 'ready' AND attempts > 0"),
    dead: failing("inbox_dead WHERE state = 'dead'"),
  };
  const save = db.prepare<[string, string, number, string]>(
    `INSERT INTO inbox_report (endpoint, reporter, at, report) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET at = excluded.at, report = excluded.report`,
  );
  const forget = db.prepare<[string, number, string, number]>(
    `DELETE FROM inbox_report WHERE endpoint = ? AND (at < ? OR reporter NOT IN
       (SELECT reporter FROM inbox_report WHERE endpoint = ? ORDER BY at DESC LIMIT ?))`,
  );
  const reports = db.prepare<[string], StoredReport>(
    "SELECT at, report FROM inbox_report WHERE endpoint = ? ORDER BY at DESC",
  );
  return {
    failing: (endpoint: string, state: FailedEvent["state"], beforeSeq: number): FailedEvent[] =>
      byState[state].all(endpoint, beforeSeq),
    saveReport: db.transaction(
      (endpoint: string, reporter: string, report: string, now: number) => {
        save.run(endpoint, reporter, now, report);
        forget.run(endpoint, now - REPORT_KEPT_MS, endpoint, MOST_REPORTS);
      },
    ).immediate,
    reports: (endpoint: string): StoredReport[] => reports.all(endpoint),
  };
}

export type Failures = ReturnType<typeof prepareFailures>;
