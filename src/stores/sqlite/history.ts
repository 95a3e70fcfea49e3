import type { Database } from "better-sqlite3";
import { MOST_PAST_STEPS, type PastStep } from "../../inbox/stored-events.js";

/** What happened to events; see G13 of the port. A delivery that succeeds writes nothing here. */
export interface History {
  add(seq: number, step: PastStep): void;
  /** The oldest step first. */
  find(seq: number): PastStep[];
  drop(seq: number): void;
}

export function prepareHistory(db: Database): History {
  const insert = db.prepare(`
    INSERT INTO inbox_history (seq, step, at, kind, attempts, error)
    SELECT @seq, coalesce(max(step), 0) + 1, @at, @kind, @attempts, @error FROM inbox_history WHERE seq = @seq`);
  const dropOldest = db.prepare(`
    DELETE FROM inbox_history WHERE seq = @seq
      AND step <= (SELECT max(step) FROM inbox_history WHERE seq = @seq) - ${MOST_PAST_STEPS}`);
  const find = db.prepare<[number], PastStep>(
    "SELECT at, kind, attempts, error FROM inbox_history WHERE seq = ? ORDER BY step",
  );
  const drop = db.prepare<[number]>("DELETE FROM inbox_history WHERE seq = ?");
  return {
    add(seq, step) {
      insert.run({ ...step, seq });
      dropOldest.run({ seq });
    },
    find: (seq) => find.all(seq),
    drop: (seq) => void drop.run(seq),
  };
}
