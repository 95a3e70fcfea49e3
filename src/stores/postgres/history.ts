import { MOST_PAST_STEPS } from "../../inbox/stored-events.js";
import { BY_INDEX } from "./commit-functions.js";

// The caller has locked the events. Each event is there once. `p_errors` NULL: these steps have none.
export const HISTORY_FUNCTION = `
  CREATE FUNCTION add_steps(p_at bigint, p_kind text, p_seqs bigint[], p_attempts int[], p_errors text[]) RETURNS void
  LANGUAGE plpgsql ${BY_INDEX} AS $$
  BEGIN
    INSERT INTO inbox_history (seq, at, kind, attempts, error)
    SELECT s.seq, p_at, p_kind, s.attempts, s.error FROM unnest(p_seqs, p_attempts, p_errors) AS s(seq, attempts, error);
    DELETE FROM inbox_history h USING unnest(p_seqs) AS s(seq)
    WHERE h.seq = s.seq AND h.step <= (
      SELECT old.step FROM inbox_history old WHERE old.seq = s.seq ORDER BY old.step DESC OFFSET ${MOST_PAST_STEPS} LIMIT 1);
  END $$;
`;
