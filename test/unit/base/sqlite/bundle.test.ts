import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { build } from "esbuild";
import { expect, test } from "vitest";
import { isOlder } from "../../../../src/base/sqlite/sqlite-driver.js";
import { tempFolder } from "../../temp-folder.js";

const ENTRY = `
  import { sqliteStore } from "./src/kit/stores/sqlite/sqlite-store.js";
  const store = sqliteStore(process.argv[2]);
  const clock = { now: () => 0 };
  store.open({ endpoint: "default", clock }).then(
    () => store.close("default").then(() => console.log("opened")),
    (error) => console.log(error.code, error.message),
  );`;

test("a bundle of CommonJS modules opens an inbox, and says what it lacks only when it does", async () => {
  const folder = tempFolder();
  const outfile = join(folder, "app.cjs");
  const stdin = { contents: ENTRY, resolveDir: process.cwd() };
  await build({
    stdin,
    outfile,
    bundle: true,
    platform: "node",
    format: "cjs",
    external: ["better-sqlite3"],
    logLevel: "silent",
  });
  const runIn = (cwd: string): string => {
    const { stdout, stderr } = spawnSync(process.execPath, [outfile, join(folder, "inbox.db")], {
      cwd,
      encoding: "utf8",
    });
    return stdout + stderr;
  };
  expect(runIn(process.cwd())).toBe("opened\n");
  const { sqlite = "0" } = process.versions as { sqlite?: string };
  expect(runIn(folder)).toContain(
    isOlder(sqlite) ? "store_unsupported The package better-sqlite3 is not installed." : "opened",
  );
});
