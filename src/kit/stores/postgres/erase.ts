import type { Run } from "./connection.js";

const TIMEOUT_MS = 60 * 60_000;

/** See `wipe` of the port. @param name the schema, quoted */
export async function wipe(
  run: Run,
  name: string,
  endpoint: string,
  hidden: string | null,
): Promise<string> {
  if (hidden !== null) {
    const drop = `DELETE FROM ${name}.inbox_report WHERE endpoint = $1 AND strpos(report, $2) > 0`;
    await run(drop, [endpoint, JSON.stringify(hidden).slice(1, -1)]);
  }
  return (
    "PostgreSQL's files keep what was deleted: stop the receivers, and run: npx signalbox inbox vacuum. " +
    "Its WAL, standbys and backups have it for as long as you keep them."
  );
}

/** See `vacuum` of the port. */
export async function vacuum(run: Run, name: string): Promise<void> {
  for (const table of ["inbox", "inbox_body", "inbox_history", "inbox_lane", "inbox_report"])
    await run(`VACUUM FULL ${name}.${table}`, [], TIMEOUT_MS);
}
