import {
  FAILED_AT_ONCE,
  FAILED_ERROR_LENGTH,
  MOST_REPORTS,
  REPORT_KEPT_MS,
  type FailedEvent,
  type StoredReport,
} from "../../inbox/situation/trouble.js";
import type { InboxStore } from "../../inbox/store.js";
import { IF_KEPT } from "../rows.js";
import type { Run } from "./connection.js";
import { DEAD_AFTER_MS } from "./owner-functions.js";
import { heldBy, IN_STATE } from "./queries.js";

/** Of those that have an error. */
const FAILING = {
  // A replayed event has failed only when it has failed again.
  ready: `${IN_STATE.ready} AND (attempts > 0 OR crashes > 1)`,
  dead: IN_STATE.dead,
};

/**
 * What people ask when something is wrong: which events fail, and what receivers say of themselves.
 *
 * @param name the schema, quoted
 */
export function createTrouble(run: Run, name: string) {
  return {
    failing: (endpoint, state, beforeSeq) =>
      run<FailedEvent>(
        `SELECT seq, event_id AS "eventId", state, subject, left(last_error, ${FAILED_ERROR_LENGTH}) AS "lastError",
           coalesce(first_at, received_at) AS "firstFailedAt", coalesce(last_at, received_at) AS "lastFailedAt", ${heldBy(name, "failed")} AS "heldCount"
         FROM (SELECT * FROM ${name}.inbox WHERE endpoint = $1 AND last_error IS NOT NULL AND ${FAILING[state]} AND seq < $2
               ORDER BY seq DESC LIMIT ${FAILED_AT_ONCE}) AS failed,
           LATERAL (SELECT min(at) AS first_at, max(at) AS last_at FROM ${name}.inbox_history h
             WHERE h.seq = failed.seq AND kind <> 'replayed') AS steps
         ORDER BY seq DESC`,
        [endpoint, beforeSeq],
      ),
    async hasReceiver(endpoint) {
      const [row] = await run<{ found: boolean }>(
        `SELECT EXISTS (SELECT FROM ${name}.inbox_owner
           WHERE endpoint = $1 AND beat_at > ${name}.now_ms() - ${DEAD_AFTER_MS}) AS found`,
        [endpoint],
      );
      return row?.found ?? false;
    },
    async saveReport(endpoint, reporter, report, isKnown = false) {
      const saved = await run(
        `INSERT INTO ${name}.inbox_report (endpoint, reporter, at, report)
         SELECT $1, $2, ${name}.now_ms(), $3
         WHERE NOT $4 OR EXISTS (SELECT FROM ${name}.inbox_report WHERE endpoint = $1 AND reporter = $2)
         ON CONFLICT (endpoint, reporter) DO UPDATE SET at = excluded.at, report = excluded.report RETURNING 1`,
        [endpoint, reporter, report, isKnown],
      );
      await run(
        `DELETE FROM ${name}.inbox_report WHERE endpoint = $1 AND (at < ${name}.now_ms() - ${REPORT_KEPT_MS} OR reporter NOT IN
           (SELECT reporter FROM ${name}.inbox_report WHERE endpoint = $1 ORDER BY at DESC LIMIT ${MOST_REPORTS}))`,
        [endpoint],
      );
      return saved.length > 0;
    },
    reports: (endpoint) =>
      run<StoredReport>(
        `SELECT at, report FROM ${name}.inbox_report WHERE endpoint = $1 ORDER BY at DESC`,
        [endpoint],
      ),
    alarms: (endpoint) =>
      run(`SELECT kind, state FROM ${name}.inbox_alarm WHERE endpoint = $1`, [endpoint]),
    async setAlarm(endpoint, kind, before, after) {
      const changed = await run(
        `INSERT INTO ${name}.inbox_alarm VALUES ($1, $2, $3) ${IF_KEPT} $4 RETURNING 1`,
        [endpoint, kind, after, before],
      );
      return changed.length > 0;
    },
  } satisfies Partial<InboxStore>;
}
