import type { Activity, ActivityQuery } from "../../inbox/stored-events.js";
import { IN_SCHEMA } from "./commit-functions.js";
import { ignore } from "../../../base/errors.js";
import { MINUTE_MS } from "../../../base/time/units.js";
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
    INSERT INTO inbox_minute AS a (endpoint, minute, accepted, handed_off, failed)
    SELECT p_endpoint, s.at, s.accepted, s."handedOff", s.failed
    FROM json_to_recordset(p_sums) AS s(at bigint, accepted bigint, "handedOff" bigint, failed bigint)
    ORDER BY s.at
    ON CONFLICT (endpoint, minute) DO UPDATE SET
      accepted = a.accepted + excluded.accepted,
      handed_off = a.handed_off + excluded.handed_off,
      failed = a.failed + excluded.failed;
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
  let sums = new Map<number, Activity>();
  let adding: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  /** @param counts of one commit; `at` is its minute */
  function count({ at, accepted, handedOff, failed }: Activity): void {
    if (accepted + handedOff + failed === 0) return;
    const sum = sums.get(at) ?? { at, accepted: 0, handedOff: 0, failed: 0 };
    sum.accepted += accepted;
    sum.handedOff += handedOff;
    sum.failed += failed;
    sums.set(at, sum);
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

/** @param name the schema, quoted */
export function readActivity(
  run: Run,
  name: string,
  endpoint: string,
  { minutes, spans }: ActivityQuery,
): Promise<Activity[]> {
  return run(
    `SELECT minute - minute % $2 AS at, sum(accepted)::bigint AS accepted, sum(handed_off)::bigint AS "handedOff",
       sum(failed)::bigint AS failed
     FROM ${name}.inbox_minute
     WHERE endpoint = $1 AND minute >= (SELECT now - now % $2 - ($3 - 1) * $2 FROM ${name}.now_ms() AS now)
       AND minute <= ${name}.now_ms()
     GROUP BY 1 ORDER BY 1`,
    [endpoint, minutes * MINUTE_MS, spans],
  );
}
