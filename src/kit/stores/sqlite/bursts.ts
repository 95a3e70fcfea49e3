import type { Database } from "../../../base/sqlite/database.js";
import { MOST_EARLIER, type EarlierEvents, type QuietTime } from "../../inbox/lane.js";
import { SUPERSEDED } from "../../inbox/done-reasons.js";
import { NEVER } from "../../inbox/stored-events.js";

/** A burst whose newest event nothing has begun with, so that another one can join it. */
interface OpenBurst {
  id: number;
  deadline: number;
  rank: Buffer | null;
}

/** What the newest event of a burst is due at, and since when that is known. */
interface DueTime {
  until: number;
  since: number;
}

/**
 * The bursts that are not ended: their newest event is not done. The earlier ones are done, and name
 * the burst, so that they are not pruned before it ends.
 */
export function prepareBursts(db: Database) {
  const findOpen = db.prepare<[number], OpenBurst>(`
    SELECT id, deadline, burst_rank AS rank FROM inbox_burst JOIN inbox ON inbox.seq = newest
    WHERE newest = ? AND state = 'ready' AND token = 0`);
  const begin = db.prepare<DueTime & { seq: number; deadline: number }>(`
    INSERT INTO inbox_burst (newest, id, since, until, deadline, earlier)
    VALUES (@seq, @seq, @since, @until, @deadline, 0)`);
  const grow = db.prepare<[number, number, number, number, number]>(
    "UPDATE inbox_burst SET newest = ?, since = ?, until = ?, deadline = ?, earlier = earlier + 1 WHERE id = ?",
  );
  const setRank = db.prepare<[Uint8Array, number]>("UPDATE inbox SET burst_rank = ? WHERE seq = ?");
  const supersede = db.prepare<{ older: number; newer: number; id: number; now: number }>(`
    UPDATE inbox SET state = 'done', due_at = @now, ready_since = 0, burst = @id,
      last_error = '${SUPERSEDED} ' || (SELECT event_id FROM inbox WHERE seq = @newer)
    WHERE seq = @older`);
  const find = db.prepare<[number], { id: number; count: number } & DueTime>(
    "SELECT id, earlier AS count, until, since FROM inbox_burst WHERE newest = ?",
  );
  const findEarlier = db.prepare<[number], EarlierEvents["events"][number]>(`
    SELECT event_id AS eventId, type, received_at AS receivedAt FROM inbox WHERE burst = ?
    ORDER BY seq DESC LIMIT ${MOST_EARLIER}`);
  const endDone = db.prepare<[number]>(`
    DELETE FROM inbox_burst
    WHERE newest = ? AND NOT EXISTS (SELECT 1 FROM inbox WHERE seq = newest AND state <> 'done')`);
  const ofBurst = "FROM inbox WHERE burst = @id AND has_payload = 1";
  const before = db
    .prepare<{ id: number }, number | null>(
      `SELECT max(seq) ${ofBurst} AND burst_rank IS (SELECT max(burst_rank) ${ofBurst})`,
    )
    .pluck();
  const comeBack = db.prepare<{ newest: number; seq: number }>(`
    UPDATE inbox SET state = 'ready', last_error = NULL, burst = NULL,
      possibly_repeated = iif((SELECT token FROM inbox WHERE seq = @seq) = 0, possibly_repeated, 1)
    WHERE seq = @newest`);
  const lead = db.prepare<[number, number]>(
    "UPDATE inbox_burst SET newest = ?, earlier = earlier - 1 WHERE id = ?",
  );
  const shrink = db.prepare<[number]>(
    "UPDATE inbox_burst SET earlier = earlier - 1 WHERE id = (SELECT burst FROM inbox WHERE seq = ?)",
  );
  const leave = db.prepare<[number]>(
    "UPDATE inbox SET burst = NULL WHERE seq = ? AND burst IS NOT NULL",
  );

  return {
    /**
     * A new event joins the burst of its neighbour, the one before it in its lane, or begins one.
     *
     * @returns which of the two the other one supersedes; null when it has begun a burst
     */
    join(
      seq: number,
      { quietMs, longestMs, rank }: QuietTime,
      neighbour: number | undefined,
      now: number,
    ): { older: number; newer: number; until: number } | null {
      if (rank !== null) setRank.run(rank, seq);
      const open = neighbour === undefined ? undefined : findOpen.get(neighbour);
      // The clock may have been set back since the first event.
      const deadline = Math.min(now + longestMs, open?.deadline ?? NEVER);
      const until = Math.min(now + quietMs, deadline);
      if (neighbour === undefined || open === undefined) {
        begin.run({ seq, since: now, until, deadline });
        return null;
      }
      const { id } = open;
      const isOlder = rank !== null && open.rank !== null && Buffer.compare(rank, open.rank) < 0;
      const [older, newer] = isOlder ? [seq, neighbour] : [neighbour, seq];
      supersede.run({ older, newer, id, now });
      grow.run(newer, now, until, deadline, id);
      return { older, newer, until };
    },
    dueTime: (seq: number): DueTime | undefined => find.get(seq),
    countEarlier: (seq: number): number => find.get(seq)?.count ?? 0,
    /** Of the newest event of a burst. */
    earlierOf(seq: number): EarlierEvents | null {
      const { id = 0, count = 0 } = find.get(seq) ?? {};
      return count === 0 ? null : { count, events: findEarlier.all(id).toReversed() };
    },
    /** To be called when an event may be done, or is deleted. */
    ended: (seq: number) => void endDone.run(seq),
    /**
     * To be called when an event is done that was not handed off. @returns the one before it in its
     * burst, which is the newest now, and `ready`
     */
    givenUp(seq: number): number | undefined {
      const burst = find.get(seq);
      const newest = burst && before.get({ id: burst.id });
      if (burst === undefined || newest == null) return undefined;
      comeBack.run({ newest, seq });
      lead.run(newest, burst.id);
      return newest;
    },
    /** An event that was superseded is handed off alone. */
    left(seq: number): void {
      shrink.run(seq);
      leave.run(seq);
    },
  };
}
