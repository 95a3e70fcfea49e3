import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { POSTGRES_PORT } from "../../../contract/postgres-medium.js";
import { freePort } from "../../../own-postgres.js";

const PROGRAM = ["/usr/sbin", ...(process.env["PATH"] ?? "").split(":")]
  .map((folder) => join(folder, "pgbouncer"))
  .find((path) => existsSync(path));

export const hasPgbouncer = PROGRAM !== undefined;

export interface Pgbouncer {
  url: string;
  stop(): Promise<void>;
}

/**
 * A pgbouncer before a server, with so few connections to it that clients share them.
 *
 * @param server by default that of the tests
 */
export async function startPgbouncer(
  settings: Record<string, string>,
  server = `port=${POSTGRES_PORT} user=${userInfo().username}`,
): Promise<Pgbouncer> {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-pgbouncer-"));
  const port = await freePort();
  const { username } = userInfo();
  const all = {
    listen_addr: "127.0.0.1",
    listen_port: port,
    unix_socket_dir: "",
    auth_type: "any",
    default_pool_size: 3,
    ...settings,
  };
  const path = join(folder, "pgbouncer.ini");
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
  writeFileSync(
    path,
    ["[databases]", `test = host=127.0.0.1 ${server}`, "[pgbouncer]", ...lines, ""].join("\n"),
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
    url: `postgres://${username}@127.0.0.1:${port}/test`,
    async stop() {
      child.kill("SIGKILL");
      await exited;
      rmSync(folder, { recursive: true });
    },
  };
}
