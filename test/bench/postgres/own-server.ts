import { chmodSync, readFileSync } from "node:fs";
import { Pool } from "pg";
import { makeOwnPostgres } from "../../own-postgres.js";
import { HOST } from "../endpoint.js";

/**
 * All contenders use the same server. What is not named here is PostgreSQL's default: `fsync` and
 * `full_page_writes` are on.
 */
const SETTINGS = [
  "synchronous_commit=on",
  "shared_buffers=1GB",
  "max_wal_size=4GB",
  // So that a run of minutes has what a server has in hours.
  "autovacuum_naptime=2s",
];

/**
 * A PostgreSQL server of its own, whose commits wait for the disk.
 *
 * @param under a folder on the disk to measure
 */
export async function startOwnServer(under: string) {
  // PostgreSQL refuses to run as root, and its user must get to its files.
  chmodSync(under, 0o755);
  const server = await makeOwnPostgres(SETTINGS, undefined, undefined, under);
  const kill = (): void => void server.stop("SIGINT");
  process.once("exit", kill);
  const urlOf = (database: string): string =>
    `postgres://postgres@${HOST}:${server.port}/${database}`;
  const pool = new Pool({ connectionString: urlOf("postgres"), max: 2 });
  pool.on("error", () => {}); // its connections end while the server stops
  const ask = async (value: string): Promise<string> => {
    const { rows } = await pool.query<{ value: string }>(`SELECT (${value})::text AS value`);
    return rows[0]?.value ?? "";
  };
  let databases = 0;
  return {
    version: (await ask("current_setting('server_version')")).split(" ")[0] ?? "",
    /** Makes an empty database. @returns its connection string */
    async newDatabase(): Promise<string> {
      const name = `bench_${++databases}`;
      await pool.query(`CREATE DATABASE ${name}`);
      return urlOf(name);
    },
    /** What its log of writes has grown to, in bytes. */
    walBytes: async () => Number(await ask("pg_current_wal_insert_lsn() - '0/0'")),
    /** CPU time of all its processes, in milliseconds; null if the system does not provide it. */
    cpuMs: () => readCpuMs(server.pid()),
    async stop(): Promise<void> {
      await pool.end();
      await server.stop("SIGINT");
      process.removeListener("exit", kill);
      await server.remove();
    },
  };
}

export type OwnServer = Awaited<ReturnType<typeof startOwnServer>>;

const TICK_MS = 10;

/** Of a process, its living children, and those that have ended. */
function readCpuMs(pid: number | undefined): number | null {
  // After the name of the program: utime, stime, cutime and cstime are the fields 11 to 14.
  const ticksOf = (each: string, end: number): number => {
    const fields = readFileSync(`/proc/${each}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    return fields.slice(11, end).reduce((sum, field) => sum + Number(field), 0);
  };
  const ticksOfChild = (each: string): number => {
    try {
      return ticksOf(each, 13);
    } catch {
      return 0; // it ended meanwhile, and its parent has its time soon
    }
  };
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
    return (
      children.reduce((sum, each) => sum + ticksOfChild(each), ticksOf(String(pid), 15)) * TICK_MS
    );
  } catch {
    return null;
  }
}

/** @returns the first row */
export async function queryDatabase<Row>(connectionString: string, query: string): Promise<Row> {
  const pool = new Pool({ connectionString, max: 1 });
  // The server may stop before the connection is closed.
  pool.on("error", () => {});
  try {
    return (await pool.query(query)).rows[0] as Row;
  } finally {
    await pool.end();
  }
}
