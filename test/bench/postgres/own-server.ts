import { execFileSync, spawn } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Pool } from "pg";
import { HOST } from "../servers/endpoint.js";

/** A PostgreSQL server of its own, whose commits wait for the disk. */
export interface OwnServer {
  version: string;
  pool: Pool;
  /** Makes an empty database. @returns its connection string */
  newDatabase(): Promise<string>;
  /** What its log of writes has grown to, in bytes. */
  walBytes(): Promise<number>;
  /** CPU time of all its processes, in milliseconds; null if the system does not provide it. */
  cpuMs(): number | null;
  stop(): Promise<void>;
}

/** All contenders use the same server. What is not named here is PostgreSQL's default: `fsync` and `full_page_writes` are on. */
const SETTINGS = {
  synchronous_commit: "on",
  shared_buffers: "1GB",
  max_wal_size: "4GB",
  // So that a run of minutes has what a server has in hours.
  autovacuum_naptime: "2s",
  unix_socket_directories: "",
  listen_addresses: HOST,
};

const DEBIAN = "/usr/lib/postgresql";

/** @returns the folder with PostgreSQL's programs; undefined if it is not installed */
export function findPostgres(): string | undefined {
  const debian = existsSync(DEBIAN) ? readdirSync(DEBIAN).map((version) => join(DEBIAN, version, "bin")) : [];
  const folders = [...debian.toSorted().toReversed(), ...(process.env.PATH ?? "").split(":")];
  return folders.find((folder) => existsSync(join(folder, "initdb")) && existsSync(join(folder, "postgres")));
}

/** @param under a folder on the disk to measure */
export async function startOwnServer(under: string): Promise<OwnServer> {
  const bin = findPostgres();
  if (bin === undefined) throw new Error("PostgreSQL is not installed");
  const data = join(mkdtempSync(join(under, "postgres-")), "data");
  mkdirSync(data);
  // PostgreSQL refuses to run as root.
  const user = process.getuid?.() === 0 ? { uid: idOf("-u"), gid: idOf("-g") } : undefined;
  if (user !== undefined) {
    for (const folder of [under, join(data, "..")]) chmodSync(folder, 0o755);
    chownSync(data, user.uid, user.gid);
  }
  const initdb = ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale", "C"];
  execFileSync(join(bin, "initdb"), initdb, { ...user, cwd: data, stdio: "pipe" });
  const port = await freePort();
  const settings = Object.entries({ ...SETTINGS, port }).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const child = spawn(join(bin, "postgres"), ["-D", data, ...settings], { ...user, cwd: data, stdio: "ignore" });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const kill = (): void => void child.kill("SIGINT");
  process.once("exit", kill);
  const urlOf = (database: string): string => `postgres://postgres@${HOST}:${port}/${database}`;
  const pool = new Pool({ connectionString: urlOf("postgres"), max: 2 });
  pool.on("error", () => {}); // its connections end while the server stops
  const ask = async (value: string): Promise<string> => {
    const { rows } = await pool.query<{ value: string }>(`SELECT (${value})::text AS value`);
    return rows[0]?.value ?? "";
  };
  while ((await ask("1").catch(() => null)) === null) {
    if (child.exitCode !== null) throw new Error("PostgreSQL did not start");
    await delay(50);
  }
  let databases = 0;
  return {
    version: (await ask("current_setting('server_version')")).split(" ")[0] ?? "",
    pool,
    async newDatabase() {
      const name = `bench_${++databases}`;
      await pool.query(`CREATE DATABASE ${name}`);
      return urlOf(name);
    },
    walBytes: async () => Number(await ask("pg_current_wal_insert_lsn() - '0/0'")),
    cpuMs: () => readCpuMs(child.pid),
    async stop() {
      await pool.end();
      kill();
      await exited;
      process.removeListener("exit", kill);
      rmSync(join(data, ".."), { recursive: true, force: true });
    },
  };
}

function idOf(flag: string): number {
  return Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

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
    return children.reduce((sum, each) => sum + ticksOfChild(each), ticksOf(String(pid), 15)) * TICK_MS;
  } catch {
    return null;
  }
}
