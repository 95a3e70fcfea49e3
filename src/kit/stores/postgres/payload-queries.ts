import type { InboxStore } from "../../inbox/store.js";
import type { Run } from "./connection.js";

/** The disk may be busy. */
const TIMEOUT_MS = 60_000;

/** What a limit of bytes needs. @param name the schema, quoted */
export function createPayloadQueries(
  run: Run,
  name: string,
): Pick<InboxStore, "payloadSizes" | "dropPayloads"> {
  return {
    payloadSizes: ({ endpoint, from, before, limit }) =>
      run(
        `SELECT seq, endpoint = $1 AND state <> 'done' AS waits,
           CASE WHEN endpoint = $1 AND state = 'done' THEN octet_length(body) + octet_length(received) ELSE 0 END AS bytes
         FROM ${name}.inbox_body JOIN ${name}.inbox USING (seq) WHERE seq >= $2 AND seq < $3 ORDER BY seq LIMIT $4`,
        [endpoint, from, before, limit],
        TIMEOUT_MS,
      ),
    async dropPayloads(endpoint, seqs) {
      await run(
        `WITH old AS (
           SELECT seq FROM ${name}.inbox WHERE seq = ANY ($2) AND endpoint = $1 AND state = 'done' AND has_payload
           ORDER BY seq FOR UPDATE SKIP LOCKED
         ), emptied AS (UPDATE ${name}.inbox i SET has_payload = false FROM old WHERE i.seq = old.seq),
         steps AS (DELETE FROM ${name}.inbox_history h USING old WHERE h.seq = old.seq)
         DELETE FROM ${name}.inbox_body b USING old WHERE b.seq = old.seq`,
        [endpoint, seqs],
        TIMEOUT_MS,
      );
    },
  };
}
