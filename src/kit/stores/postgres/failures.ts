import {
  FAILED_AT_ONCE,
  FAILED_ERROR_LENGTH,
  MOST_REPORTS,
  REPORT_KEPT_MS,
  type FailedEvent,
  type StoredReport,
} from "../../inbox/stored-events.js";
import type { Run } from "./connection.js";
import { DEAD_AFTER_MS } from "./owner-functions.js";

/**
 * What people ask when something is wrong: which events fail, and what receivers say of themselves.
 *
 * @param name the schema, quoted
 */
export function createFailures(run: Run, name: string) {
  const inState = {
    // A replayed event has failed only when it has failed again.
    ready: "queue_at IS NOT NULL AND attempts > 0",
    dead: "parked_at IS NOT NULL AND state = 'dead'",
  };

  return {
    failing: (endpoint: string, state: FailedEvent["state"], beforeSeq: number) =>
      run<FailedEvent>(
        `SELECT seq, event_id AS "eventId", state, subject, left(last_error, ${FAILED_ERROR_LENGTH}) AS "lastError",
           coalesce(first_at, received_at) AS "firstFailedAt", coalesce(last_at, received_at) AS "lastFailedAt"
         FROM (SELECT * FROM ${name}.inbox WHERE endpoint = $1 AND last_error IS NOT NULL AND ${inState[state]} AND seq < $2
               ORDER BY seq DESC LIMIT ${FAILED_AT_ONCE}) AS failed,
           LATERAL (SELECT min(at) AS first_at, max(at) AS last_at FROM ${name}.inbox_history h
             WHERE h.seq = failed.seq AND kind <> 'replayed') AS steps
         ORDER BY seq DESC`,
        [endpoint, beforeSeq],
      ),
    async hasReceiver(endpoint: string): Promise<boolean> {
      const [row] = await run<{ found: boolean }>(
        `SELECT EXISTS (SELECT FROM ${name}.inbox_owner
           WHERE endpoint = $1 AND beat_at > ${name}.now_ms() - ${DEAD_AFTER_MS}) AS found`,
        [endpoint],
      );
      return row?.found ?? false;
    },
    async saveReport(endpoint: string, reporter: string, report: string): Promise<void> {
      await run(
        `INSERT INTO ${name}.inbox_report (endpoint, reporter, at, report) VALUES ($1, $2, ${name}.now_ms(), $3)
         ON CONFLICT (endpoint, reporter) DO UPDATE SET at = excluded.at, report = excluded.report`,
        [endpoint, reporter, report],
      );
      await run(
        `DELETE FROM ${name}.inbox_report WHERE endpoint = $1 AND (at < ${name}.now_ms() - ${REPORT_KEPT_MS} OR reporter NOT IN
           (SELECT reporter FROM ${name}.inbox_report WHERE endpoint = $1 ORDER BY at DESC LIMIT ${MOST_REPORTS}))`,
        [endpoint],
      );
    },
    reports: (endpoint: string) =>
      run<StoredReport>(
        `SELECT at, report FROM ${name}.inbox_report WHERE endpoint = $1 ORDER BY at DESC`,
        [endpoint],
      ),
  };
}

export type Failures = ReturnType<typeof createFailures>;
