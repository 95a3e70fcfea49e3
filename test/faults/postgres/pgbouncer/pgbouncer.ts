import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { freePort, type OwnPostgres } from "../../../own-postgres.js";

const PROGRAM = ["/usr/sbin", ...(process.env["PATH"] ?? "").split(":")]
  .map((folder) => join(folder, "pgbouncer"))
  .find((path) => existsSync(path));

export const hasPgbouncer = PROGRAM !== undefined;

export type Pgbouncer = Awaited<ReturnType<typeof startPgbouncer>>;

/**
 * A pgbouncer before a server, with so few connections to it that clients share them. It is in
 * statement mode, which allows less than transaction mode does.
 */
export async function startPgbouncer(server: OwnPostgres) {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-pgbouncer-"));
  const port = await freePort();
  const path = join(folder, "pgbouncer.ini");
  writeFileSync(
    path,
    `[databases]
test = host=127.0.0.1 port=${server.port} user=postgres dbname=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
default_pool_size = 3
pool_mode = statement
`,
  );
  chmodSync(folder, 0o755);
  // It refuses to run as root.
  const idOf = (flag: string): number =>
    Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
  const user = process.getuid?.() === 0 ? { uid: idOf("-u"), gid: idOf("-g") } : {};
  const child = spawn(PROGRAM as string, [path], { ...user, stdio: ["ignore", "ignore", "pipe"] });
  const exited = once(child, "exit");
  const said: string[] = [];
  await new Promise<void>((resolve, reject) => {
    createInterface(child.stderr).on("line", (line) => {
      said.push(line);
      if (line.includes("process up")) resolve();
    });
    child.once("exit", () => reject(new Error(`pgbouncer ended: ${said.join("\n")}`)));
  });
  return {
    url: `postgres://postgres@127.0.0.1:${port}/test`,
    async stop(): Promise<void> {
      child.kill("SIGKILL");
      await exited;
      rmSync(folder, { recursive: true });
    },
  };
}
