// A callback whose effect is one row for each signal, without a unique constraint, in a transaction of its own. At random points
// it loses its connection, fails, or has its process taken for dead.
import pg from "pg";

const ignore = () => {};

/**
 * @param config `order`: when the statement of `completeSql` runs: in the transaction, or `after` it.
 * `faults`: the share of calls with a fault
 */
export function effectCallback({ connectionString, schema, order, faults }) {
  const pool = new pg.Pool({ connectionString, max: 20 }).on("error", ignore);
  const name = `"${schema.replaceAll('"', '""')}"`;
  /** What another process does when this one has had no heartbeat for 5 seconds. */
  const takeOver = (id) => `SET LOCAL search_path TO ${name}, pg_temp;
    UPDATE inbox_owner SET alive_since = 0,
      beat_at = CASE WHEN id = (SELECT owner FROM inbox WHERE event_id = '${id}') THEN 0 ELSE beat_at END;
    SELECT sweep(now_ms(), 'default', (SELECT id FROM inbox_owner ORDER BY beat_at DESC LIMIT 1), '{}')`;

  return async ({ id }, handoff) => {
    const client = await pool.connect();
    client.on("error", ignore);
    const faultAt = Math.random() < faults ? Math.floor(Math.random() * 5) : -1;
    const kind = Math.random();
    async function fault(point) {
      if (point !== faultAt) return;
      if (kind < 0.4) await pool.query("SELECT pg_terminate_backend($1)", [client.processID]);
      else if (kind < 0.5) throw new Error("the callback failed");
      else {
        await pool.query(takeOver(id)).catch(ignore);
        await pool.query("SELECT pg_sleep(random() / 5)");
      }
    }
    let failure;
    try {
      await client.query("BEGIN");
      await fault(0);
      if (order === "in") await client.query(handoff.completeSql);
      await fault(1);
      await client.query(`INSERT INTO ${name}.effect (event_id) VALUES ($1)`, [id]);
      await fault(2);
      await Promise.all([client.query("COMMIT"), fault(3)]);
      await fault(4);
      if (order === "after") await client.query(handoff.completeSql);
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      client.removeListener("error", ignore);
      client.release(failure);
    }
  };
}
