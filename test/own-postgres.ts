import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

const DEBIAN = "/usr/lib/postgresql";
/**
 * The folder of `initdb` and `postgres`; undefined where there is no PostgreSQL. The tests with
 * other versions set the variable.
 */
export const POSTGRES_BINARIES: string | undefined = [
  process.env["TEST_POSTGRES_BINARIES"] ?? "",
  ...(existsSync(DEBIAN) ? readdirSync(DEBIAN).map((version) => join(DEBIAN, version, "bin")) : []),
  ...(process.env["PATH"] ?? "").split(":"),
].find((folder) => existsSync(join(folder, "initdb")));

/**
 * A PostgreSQL of the test's own, which it may stop, kill and configure. Without a password, as the
 * user `postgres`.
 */
export interface OwnPostgres {
  port: number;
  /** The folder with its data. */
  data: string;
  /** Of the server, while it runs. */
  pid(): number | undefined;
  start(): Promise<void>;
  /** `SIGINT` stops it cleanly, `SIGQUIT` as a crash would. */
  stop(signal: "SIGINT" | "SIGQUIT"): Promise<void>;
  /** Stops it and deletes its files. */
  remove(): Promise<void>;
}

/**
 * @param settings as on the command line of `postgres`, such as `fsync=off`
 * @param primary makes a standby of this server, which streams from it until it is promoted. The
 * primary is restarted meanwhile
 * @param disk the folder for its data
 */
export async function makeOwnPostgres(
  settings: readonly string[] = [],
  primary?: OwnPostgres,
  folder = POSTGRES_BINARIES as string,
  disk = tmpdir(),
): Promise<OwnPostgres> {
  const owner = await unprivileged();
  const data = mkdtempSync(join(disk, "signalbox-postgres-"));
  if (owner !== null) chownSync(data, owner.uid, owner.gid);
  if (primary === undefined) {
    const initdb = [
      "-D",
      data,
      "-U",
      "postgres",
      "-A",
      "trust",
      "--no-sync",
      "--no-locale",
      "-E",
      "UTF8",
    ];
    await run(join(folder, "initdb"), initdb, { ...owner });
  } else {
    await primary.stop("SIGINT");
    await run("cp", ["-a", `${primary.data}/.`, data], { ...owner });
    await run("touch", [join(data, "standby.signal")], { ...owner });
    await primary.start();
  }
  const port = await freePort();
  let server: ChildProcess | undefined;

  const own: OwnPostgres = {
    port,
    data,
    pid: () => server?.pid,
    async start() {
      const all = ["listen_addresses=127.0.0.1", `unix_socket_directories=${data}`, ...settings];
      if (primary !== undefined)
        all.push(`primary_conninfo=host=127.0.0.1 port=${primary.port} user=postgres`);
      const args = ["-D", data, "-p", String(port), ...all.flatMap((setting) => ["-c", setting])];
      const started = spawn(join(folder, "postgres"), args, {
        ...owner,
        stdio: ["ignore", "ignore", "pipe"],
      });
      server = started;
      let log = "";
      await new Promise<void>((resolve, reject) => {
        started.once("exit", () => reject(new Error(`PostgreSQL did not start: ${log}`)));
        started.stderr.on("data", (text: Buffer) => {
          log = (log + text.toString()).slice(-10_000);
          if (log.includes("ready to accept")) resolve();
        });
      });
    },
    async stop(signal) {
      const stopping = server;
      server = undefined;
      if (stopping === undefined || stopping.exitCode !== null || stopping.signalCode !== null)
        return;
      const ended = once(stopping, "exit");
      stopping.kill(signal);
      await ended;
    },
    async remove() {
      await own.stop("SIGQUIT");
      rmSync(data, { recursive: true, force: true });
    },
  };
  await own.start();
  return own;
}

/** PostgreSQL refuses to run as root. */
async function unprivileged(): Promise<{ uid: number; gid: number } | null> {
  if (process.getuid?.() !== 0) return null;
  const id = async (flag: string): Promise<number> =>
    Number((await run("id", [flag, "postgres"])).stdout);
  return { uid: await id("-u"), gid: await id("-g") };
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
