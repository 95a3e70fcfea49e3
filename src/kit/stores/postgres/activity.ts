import { ignore } from "../../../base/errors.js";
import { MINUTE_MS } from "../../../base/time/units.js";
import {
  addActivity,
  noActivity,
  type Activity,
  type ActivityCounts,
  type ActivityQuery,
} from "../../inbox/activity.js";
import { activityOf, ADD_MINUTE, MINUTE_COLUMNS, MINUTE_SUMS } from "../rows.js";
import { IN_SCHEMA } from "./commit-functions.js";
import type { Run } from "./connection.js";

/** How long counts wait, so that a commit that follows another soon writes none. */
const ADD_AFTER_MS = 1000;
const LAST_TIMEOUT_MS = 2000;

// A lost sum is no harm, so it needs no sync. The minutes are in one order for all processes, which
// would deadlock otherwise.
export const ACTIVITY_FUNCTION = `
  CREATE OR REPLACE FUNCTION add_activity(p_endpoint text, p_sums json) RETURNS void
  LANGUAGE plpgsql ${IN_SCHEMA} AS $$
  BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    INSERT INTO inbox_minute (endpoint, minute, ${MINUTE_COLUMNS.join(", ")})
    SELECT p_endpoint, s.at, s.accepted, s."handedOff", s.failed, coalesce(s.ignored, 0),
      ${noActivity()
        .durations.map((_, index) => `coalesce(s.durations[${index + 1}], 0)`)
        .join(", ")}
    FROM json_to_recordset(p_sums)
      AS s(at bigint, accepted bigint, "handedOff" bigint, failed bigint, ignored bigint, durations bigint[])
    ORDER BY s.at
    ON CONFLICT (endpoint, minute) DO UPDATE SET ${ADD_MINUTE};
  END $$;
`;

/**
 * Counts what the commits of this process did, and adds the sums to the database about once a
 * second. A row that each commit updated would be locked by it, and while a long transaction keeps
 * dead rows, each commit would have to pass all of them.
 *
 * @param name the schema, quoted
 */
export function createActivityCounter(run: Run, name: string, endpoint: string) {
  /** By minute. */
  let sums = new Map<number, ActivityCounts & { at: number }>();
  let adding: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  /** @param counts of one commit; `at` is its minute */
  function count({ at, ...counts }: Activity): void {
    if (counts.accepted + counts.handedOff + counts.failed === 0) return;
    sums.set(at, addActivity(sums.get(at) ?? { at, ...noActivity() }, counts));
    timer ??= setTimeout(() => {
      timer = undefined;
      add().catch(ignore);
    }, ADD_AFTER_MS).unref();
  }

  function add(timeoutMs?: number): Promise<void> {
    const added = adding.then(async () => {
      if (sums.size === 0) return;
      const taken = sums;
      sums = new Map();
      const values = [endpoint, JSON.stringify([...taken.values()])];
      try {
        await run(`SELECT ${name}.add_activity($1, $2)`, values, timeoutMs);
      } catch (error) {
        taken.forEach(count);
        throw error;
      }
    });
    adding = added.catch(ignore);
    return added;
  }

  return {
    count,
    /** Adds what was counted until now. */
    add: () => add(),
    async close(): Promise<void> {
      await add(LAST_TIMEOUT_MS).catch(ignore);
      clearTimeout(timer);
    },
  };
}

export type ActivityCounter = ReturnType<typeof createActivityCounter>;

/** See `activity` of the port. @param name the schema, quoted */
export async function readActivity(
  run: Run,
  name: string,
  endpoint: string,
  { minutes, spans }: ActivityQuery,
): Promise<Activity[]> {
  const rows = await run<{ at: number; sums: number[] }>(
    `SELECT minute - minute % $2 AS at, json_build_array(${MINUTE_SUMS}) AS sums
     FROM ${name}.inbox_minute
     WHERE endpoint = $1 AND minute >= (SELECT now - now % $2 - ($3 - 1) * $2 FROM ${name}.now_ms() AS now)
       AND minute <= ${name}.now_ms()
     GROUP BY 1 ORDER BY 1`,
    [endpoint, minutes * MINUTE_MS, spans],
  );
  return rows.map(({ at, sums }) => activityOf(at, sums));
}
