import type { InboxEntry, SearchPage, SearchQuery } from "../../inbox/stored-events.js";
import { ENTRY, likePattern } from "../rows.js";
import { IN_SCHEMA } from "./commit-functions.js";
import type { Run } from "./connection.js";

/** Most events that one call looks at, which stand side by side. */
const MOST_LOOKED_AT = 10_000;
/**
 * Most events that one call finds by an index, each of which may stand on another page. If there
 * are more, many of the newest match.
 */
const MOST_BY_INDEX = 2000;

// The newest events that match, and the last that was looked at. Only an index that has the events
// in this order is considered.
const newest = (which: string, most: number): string => `
      RETURN QUERY
        SELECT coalesce(looked.matches, false), looked.n = ${most}, (SELECT e FROM inbox e WHERE e.seq = looked.seq) FROM (
          SELECT i.seq, row_number() OVER (ORDER BY i.seq DESC) AS n,
            i.endpoint = p_endpoint
              AND (p_state IS NULL OR i.state = p_state)
              AND (p_type IS NULL OR i.type = p_type)
              AND (p_subtype IS NULL OR i.subtype = p_subtype)
              AND (p_type_or_subtype IS NULL OR i.type = p_type_or_subtype OR i.subtype = p_type_or_subtype)
              AND (p_subject IS NULL OR i.subject = p_subject)
              AND (p_id IS NULL OR starts_with(i.event_id, p_id))
              AND (p_error IS NULL OR i.last_error ILIKE p_error)
              AND (p_received_before IS NULL OR i.received_at < p_received_before)
              AND (p_received_after IS NULL OR i.received_at >= p_received_after) AS matches
          FROM inbox i WHERE ${which} AND i.seq < p_before ORDER BY i.seq DESC LIMIT ${most}
        ) AS looked
        WHERE looked.matches OR looked.n = ${most} LIMIT p_limit;`;

export const SEARCH_FUNCTION = `
  CREATE OR REPLACE FUNCTION search(
    p_endpoint text, p_state text, p_type text, p_subtype text, p_type_or_subtype text, p_subject text, p_id text,
    p_error text, p_received_before bigint, p_received_after bigint, p_before bigint, p_limit int
  ) RETURNS TABLE (matches boolean, is_last boolean, entry inbox)
  LANGUAGE plpgsql STABLE ROWS 50 ${IN_SCHEMA} SET enable_sort = off SET enable_bitmapscan = off AS $$
  DECLARE
    v_few bigint[];
    v_last bigint;
  BEGIN
    IF p_id IS NOT NULL THEN
      -- In the order of the key these come first.
      v_few := ARRAY(
        SELECT seq FROM (
          SELECT seq, event_id FROM inbox WHERE endpoint = p_endpoint AND event_id >= p_id
          ORDER BY endpoint, event_id LIMIT ${MOST_BY_INDEX} + 1) AS first
        WHERE starts_with(event_id, p_id));
    ELSIF p_state = 'ready' THEN
      v_few := ARRAY(SELECT seq FROM inbox WHERE endpoint = p_endpoint AND queue_at IS NOT NULL LIMIT ${MOST_BY_INDEX} + 1);
    ELSIF p_state = 'leased' THEN
      SELECT last_value INTO v_last FROM inbox_seq_seq;
      IF v_last - ${MOST_LOOKED_AT} <= ALL (SELECT low_seq FROM inbox_owner WHERE endpoint = p_endpoint) THEN
        v_few := ARRAY(SELECT leased_to(id, low_seq, v_last + 1) FROM inbox_owner WHERE endpoint = p_endpoint);
      END IF;
    END IF;
    IF cardinality(v_few) <= ${MOST_BY_INDEX} THEN
      ${newest("i.seq = ANY (v_few)", MOST_BY_INDEX + 1)}
    ELSIF p_state IN ('dead', 'quarantined') THEN
      ${newest("i.endpoint = p_endpoint AND i.parked_at IS NOT NULL", MOST_BY_INDEX)}
    ELSE
      ${newest("true", MOST_LOOKED_AT)}
    END IF;
  END $$;
`;

/** @param name the schema, quoted */
export async function search(
  run: Run,
  name: string,
  endpoint: string,
  query: SearchQuery,
): Promise<SearchPage> {
  const { state, type, subtype, typeOrSubtype, subject, receivedBefore, receivedAfter } = query;
  const { beforeSeq = Number.MAX_SAFE_INTEGER, limit = 50 } = query;
  const id = query.eventId === "" ? null : query.eventId;
  const error = query.error === undefined ? null : likePattern(query.error);
  const times = [receivedBefore, receivedAfter, beforeSeq];
  const rows = await run<InboxEntry & { matches: boolean; is_last: boolean }>(
    `SELECT matches, is_last, ${ENTRY} FROM ${name}.search($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) AS found,
       LATERAL (SELECT (found.entry).*) AS entry`,
    [endpoint, state, type, subtype, typeOrSubtype, subject, id, error, ...times, limit + 1],
  );
  const found = rows.filter(({ matches }) => matches);
  const entries = found
    .slice(0, limit)
    .map(({ matches: _matches, is_last: _isLast, ...entry }) => entry);
  const last = rows.length > limit ? entries.at(-1) : rows.findLast((row) => row.is_last);
  return { entries, nextBeforeSeq: last?.seq ?? null };
}
