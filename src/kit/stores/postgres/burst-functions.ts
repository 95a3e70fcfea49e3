import { MOST_EARLIER } from "../../inbox/lane.js";
import { SUPERSEDED } from "../../inbox/done-reasons.js";
import { NEVER } from "../../inbox/stored-events.js";
import { BY_INDEX, HEAD, WAITING } from "./commit-functions.js";

// As bursts.ts of SQLite has it. The caller has locked the lanes, and the new events wait in them.
//
// An event that another process claims now is locked: it is begun with, so the new one begins a burst.
// Nothing here waits, so that no commit can deadlock.
const JOIN_BURSTS = `
  CREATE OR REPLACE FUNCTION join_bursts(
    p_now bigint, p_endpoint text, p_seqs bigint[], p_fates text[], p_ranks bytea[], p_quiet bigint, p_longest bigint
  ) RETURNS int -- how many events were superseded
  LANGUAGE plpgsql ${BY_INDEX} AS $$
  DECLARE
    e record;
    v_near record;
    v_open record;
    v_older bigint;
    v_newer bigint;
    v_until bigint;
    v_count int := 0;
  BEGIN
    FOR e IN
      SELECT a.seq, a.rank, i.lane FROM ( -- an id can be there twice
        SELECT DISTINCT ON (g.seq) g.seq, g.rank FROM unnest(p_seqs, p_fates, p_ranks) WITH ORDINALITY AS g(seq, fate, rank, n)
        WHERE coalesce(g.fate, 'new') = 'new' ORDER BY g.seq, g.n) AS a
      -- not by the index of what waits, which can be long
      JOIN inbox i ON i.seq = a.seq WHERE a.rank IS NOT NULL AND coalesce(i.queue_at, 0) = ${NEVER} ORDER BY a.seq
    LOOP
      IF e.rank <> '' THEN
        UPDATE inbox SET burst_rank = e.rank WHERE seq = e.seq;
      END IF;
      SELECT l.place, l.seq INTO v_near FROM (
        (SELECT place, seq FROM inbox_lane WHERE endpoint = p_endpoint AND lane = e.lane AND place = ${HEAD} AND seq < e.seq
         ORDER BY seq DESC LIMIT 1)
        UNION ALL
        (SELECT place, seq FROM inbox_lane WHERE endpoint = p_endpoint AND lane = e.lane AND place = ${WAITING} AND seq < e.seq
         ORDER BY seq DESC LIMIT 1)) AS l
      ORDER BY l.seq DESC LIMIT 1;
      SELECT b.id, b.deadline, i.burst_rank AS rank INTO v_open FROM inbox_burst b JOIN inbox i ON i.seq = b.newest
      WHERE b.newest = v_near.seq AND i.state = 'ready' AND i.token = 0 FOR UPDATE OF i SKIP LOCKED;
      IF NOT FOUND THEN
        INSERT INTO inbox_burst (newest, id, until, deadline, earlier)
        VALUES (e.seq, e.seq, p_now + least(p_quiet, p_longest), p_now + p_longest, 0);
        CONTINUE;
      END IF;
      v_older := CASE WHEN e.rank <> '' AND e.rank < v_open.rank THEN e.seq ELSE v_near.seq END;
      v_newer := e.seq + v_near.seq - v_older;
      v_open.deadline := least(v_open.deadline, p_now + p_longest); -- the clock may have been set back
      v_until := least(p_now + p_quiet, v_open.deadline);
      v_count := v_count + 1;
      UPDATE inbox SET state = 'done', due_at = p_now, queue_at = NULL, burst = v_open.id,
        last_error = '${SUPERSEDED} ' || (SELECT n.event_id FROM inbox n WHERE n.seq = v_newer)
      WHERE seq = v_older;
      UPDATE inbox_burst SET newest = v_newer, until = v_until, deadline = v_open.deadline, earlier = earlier + 1
      WHERE id = v_open.id;
      DELETE FROM inbox_lane WHERE endpoint = p_endpoint AND lane = e.lane AND place IN (${HEAD}, ${WAITING}) AND seq = v_older;
      UPDATE inbox_lane SET place = v_near.place
      WHERE endpoint = p_endpoint AND lane = e.lane AND place = ${WAITING} AND seq = v_newer;
      IF v_near.place = ${HEAD} THEN
        UPDATE inbox SET due_at = v_until, queue_at = v_until WHERE seq = v_newer;
      END IF;
    END LOOP;
    RETURN v_count;
  END $$;
`;

// An event is done that was not handed off: the one before it in its burst takes its place.
const GIVE_UP = `
  CREATE OR REPLACE FUNCTION give_up(p_now bigint, p_endpoint text, p_lane bytea, p_seq bigint) RETURNS void
  LANGUAGE plpgsql ${BY_INDEX} AS $$
  DECLARE
    v_id bigint := (SELECT id FROM inbox_burst WHERE newest = p_seq);
    v_before bigint := (SELECT seq FROM inbox WHERE burst = v_id AND has_payload
      ORDER BY burst_rank DESC NULLS LAST, seq DESC LIMIT 1);
  BEGIN
    IF v_before IS NOT NULL THEN
      UPDATE inbox SET state = 'ready', due_at = ${NEVER}, queue_at = ${NEVER}, last_error = NULL, burst = NULL,
        possibly_repeated = possibly_repeated OR (SELECT n.token <> 0 FROM inbox n WHERE n.seq = p_seq)
      WHERE seq = v_before;
      UPDATE inbox_burst SET newest = v_before, earlier = earlier - 1 WHERE id = v_id;
      INSERT INTO inbox_lane (endpoint, lane, place, seq) VALUES (p_endpoint, p_lane, ${WAITING}, v_before);
    END IF;
    PERFORM promote(p_now, p_endpoint, ARRAY[p_lane]);
  END $$;
`;

// Of the newest event of a burst that has earlier ones.
const EARLIER_OF = `
  CREATE OR REPLACE FUNCTION earlier_of(p_seq bigint) RETURNS json
  LANGUAGE plpgsql ${BY_INDEX} AS $$
  BEGIN
    RETURN (
      SELECT json_build_object('count', b.earlier, 'events', (
        SELECT json_agg(json_build_object('eventId', o.event_id, 'type', o.type, 'receivedAt', o.received_at) ORDER BY o.seq)
        FROM (SELECT * FROM inbox WHERE burst = b.id ORDER BY burst DESC, seq DESC LIMIT ${MOST_EARLIER}) AS o))
      FROM inbox_burst b WHERE b.newest = p_seq);
  END $$;
`;

export const BURST_FUNCTIONS = JOIN_BURSTS + GIVE_UP + EARLIER_OF;
