import type { EventKey, InboxStore, ReadAgain } from "../../inbox/store.js";
import { DEFAULT_SENDER, type MoveOutcome, type ReplayOutcome } from "../../inbox/stored-events.js";
import { parseReceived } from "../rows.js";
import { storable } from "./commit.js";
import type { Run } from "./connection.js";
import { LONG_TIMEOUT_MS } from "./queries.js";

/** So many numbers of rows one prune walks over: about 100 ms. */
const WALK = 100_000;

/**
 * What changes events beside the path of a delivery: for people, for retention, and for lanes.
 *
 * @param name the schema, quoted
 * @param operator for a tool, which has time: its `prune` ends with nothing only at the end of the
 * table
 */
export function createChanges(run: Run, name: string, operator: boolean) {
  /** Where the walk of `prune` continues, for each endpoint. */
  const walks = new Map<string, number>();
  /** Where that of `tendLanes` does. */
  const tendedTo = new Map<string, Buffer>();

  /** Calls the function of a move. */
  async function move<Outcome extends ReplayOutcome = MoveOutcome>(
    sqlFunction: string,
    values: unknown[],
  ): Promise<Outcome[]> {
    const [row] = await run<{ outcomes: Outcome[] }>(
      `SELECT to_json(${name}.${sqlFunction}) AS outcomes`,
      values,
    );
    return (row as { outcomes: Outcome[] }).outcomes;
  }

  return {
    async replay(events, readAgain) {
      const [endpoints, ids] = keysOf(events);
      type Read = NonNullable<ReturnType<ReadAgain>>;
      type Row = Omit<Read, "eventId" | "ownId" | "lane"> & {
        n: number;
        sender: string;
        receivedAt: number;
        received: string | null;
        /** Null for an event that need not be read again. */
        body: Buffer | null;
      };
      const rows = await run<Row>(
        `SELECT e.n, i.type, i.subtype, i.subject, coalesce(i.sender, '${DEFAULT_SENDER}') AS sender, i.received_at AS "receivedAt",
           b.received, CASE WHEN i.state = 'quarantined' OR i.type = '' THEN b.body END AS body
         FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS e(endpoint, id, n)
         JOIN ${name}.inbox i ON i.endpoint = e.endpoint AND i.event_id = e.id LEFT JOIN ${name}.inbox_body b USING (seq)`,
        [endpoints, ids],
      );
      const read: (Read | null)[] = events.map(() => null);
      for (const { n, type, subtype, subject, sender, receivedAt, received, body } of rows) {
        read[n - 1] =
          body === null
            ? { eventId: ids[n - 1] as string, type, subtype, subject }
            : readAgain({ sender, received: parseReceived(received, receivedAt), body });
      }
      const facts = ["eventId", "type", "subtype", "subject", "ownId"] as const;
      const columns = facts.map((fact) => read.map((each) => each?.[fact] ?? null));
      const lanes = read.map((each) => each?.lane ?? null);
      const keys = lanes.map((lane) =>
        lane === null ? null : Buffer.from(lane.key).toString("hex"),
      );
      return move("replay($1, $2, $3, $4, $5, $6, $7, $8, $9)", [
        endpoints,
        ids,
        ...columns,
        keys,
        lanes.some((lane) => lane?.skips),
      ]);
    },
    retryNow: (events) => move("retry_now($1, $2)", keysOf(events)),
    discard: (events) => move("discard($1, $2)", keysOf(events)),
    erase: (events, hidden) => move("erase($1, $2, $3)", [...keysOf(events), hidden]),
    async unblock(endpoint, key) {
      const [row] = await run<{ found: boolean }>(`SELECT ${name}.unblock($1, $2) AS found`, [
        endpoint,
        Buffer.from(key),
      ]);
      return row?.found ?? false;
    },
    async tendLanes(endpoint, ordered) {
      type Row = { promoted: number; next: Buffer | null; waiting: number | null };
      const [row] = await run<Row>(`SELECT * FROM ${name}.tend_lanes($1, $2, $3)`, [
        endpoint,
        ordered,
        tendedTo.get(endpoint) ?? Buffer.alloc(0),
      ]);
      const { promoted = 0, next = null, waiting = null } = row ?? {};
      if (next === null) tendedTo.delete(endpoint);
      else tendedTo.set(endpoint, next);
      return { promoted, isAtEnd: next === null, waiting: waiting ?? undefined };
    },
    async prune({ endpoint, payloadsOlderThanMs, keysOlderThanMs, limit }) {
      for (;;) {
        const [row] = await run<{ payloads: number; keys: number; next_seq: number | null }>(
          `SELECT * FROM ${name}.prune($1, $2, $3, $4, $5, $6)`,
          [endpoint, walks.get(endpoint) ?? 0, WALK, payloadsOlderThanMs, keysOlderThanMs, limit],
          LONG_TIMEOUT_MS,
        );
        const { payloads = 0, keys = 0, next_seq: next = null } = row ?? {};
        walks.set(endpoint, next ?? 0);
        if (!operator || payloads + keys > 0 || next === null) return { payloads, keys };
      }
    },
    payloadSizes: (endpoint, from, limit) =>
      run(
        `SELECT seq, ${name}.now_ms() - due_at AS "ageMs",
           CASE WHEN endpoint = $1 AND state = 'done' THEN octet_length(body) + octet_length(received) ELSE 0 END AS bytes
         FROM ${name}.inbox i JOIN ${name}.inbox_body b USING (seq) WHERE i.seq >= $2 AND b.seq >= $2 ORDER BY seq LIMIT $3`,
        [endpoint, from, limit],
        LONG_TIMEOUT_MS,
      ),
  } satisfies Partial<InboxStore>;
}

/** The endpoints and ids of events, as two arrays. */
function keysOf(events: readonly EventKey[]): [endpoints: string[], ids: (string | null)[]] {
  return [events.map(({ endpoint }) => endpoint), events.map(({ eventId }) => storable(eventId))];
}
