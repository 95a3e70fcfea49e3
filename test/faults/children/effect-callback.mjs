// A callback whose effect is one row for each signal, without a unique constraint, in a transaction of its own. At random points
// it loses its connection, fails, or has its process taken for dead.
import { Pool } from "pg";
import { postgresStore } from "signalbox/stores/postgres";

const ignore = () => {};

/**
 * @param config `order`: when the statement of `completeSql` runs: in the transaction, or `after` it.
 * `faults`: the share of calls with a fault
 */
export function effectCallback({ connectionString, schema, order, faults }) {
  const pool = new Pool({ connectionString, max: 20 }).on("error", ignore);
  const name = `"${schema.replaceAll('"', '""')}"`;
  // Takes over what its own process has leased, as if that had had no heartbeat for 5 seconds.
  const taker = postgresStore({ connectionString, schema });
  const isOpen = taker.open({ endpoint: "default", clock: { now: Date.now, elapsed: () => performance.now() } });
  async function reclaim(id) {
    await isOpen;
    const beatAt = `CASE WHEN id = (SELECT owner FROM ${name}.inbox WHERE event_id = $1) THEN 0 ELSE beat_at END`;
    await pool.query(`UPDATE ${name}.inbox_owner SET swept_at = 0, alive_since = 0, beat_at = ${beatAt}`, [id]);
    const claim = { leaseMs: 1, limit: 0, held: [] };
    await taker.commit({ endpoint: "default", settlements: [], accepts: [], claim });
  }

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
        await reclaim(id).catch(ignore);
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
