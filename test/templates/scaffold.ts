import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll } from "vitest";
import { pack, REPOSITORY } from "../package/installed.js";
import { run } from "./commands.js";

const folders: string[] = [];
// For the test file that imports this.
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A folder with the packed package alone, which is gone when the test file is over. */
function folderWithTarball(): { folder: string; name: string } {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-template-"));
  folders.push(folder);
  const { tarball } = pack();
  const name = basename(tarball);
  cpSync(tarball, join(folder, name));
  return { folder, name };
}

/**
 * A receiver that `npx signalbox init` made, beside the packed package. The command needs no SQLite, so nothing is compiled
 * for it.
 */
export async function scaffoldByNpx(template: string): Promise<string> {
  const { folder, name } = folderWithTarball();
  // npx keeps what it installs in npm's cache, which no test cleans.
  const env = { npm_config_cache: join(folder, "npm-cache"), npm_config_ignore_scripts: "true" };
  const line = ["--yes", "--package", `./${name}`, "signalbox", "init", "my-receiver"];
  await run(folder, "npx", [...line, "--template", template, "--no-install"], env);
  return join(folder, "my-receiver");
}

/** A receiver that the built command made, which depends on the packed package beside it. */
export async function scaffold(template: string, ...options: string[]): Promise<string> {
  const { folder, name } = folderWithTarball();
  const made = ["my-receiver", "--template", template, "--no-install", "--signalbox", `./${name}`, ...options];
  await run(folder, process.execPath, [join(REPOSITORY, "dist/cli/main.js"), "init", ...made]);
  return join(folder, "my-receiver");
}

/** Variables with which the install script of better-sqlite3 takes the compiled driver of this repository: to compile takes minutes. */
export function compiledDriver(project: string): Record<string, string> {
  const own = join(REPOSITORY, "node_modules", "better-sqlite3");
  const { modules } = process.versions;
  const name = `better-sqlite3-v${versionOf(own)}-node-v${modules}-${process.platform}-${process.arch}.tar.gz`;
  const folder = join(project, "..", "prebuilds");
  mkdirSync(folder);
  execFileSync("tar", ["-czf", join(folder, name), "-C", own, COMPILED]);
  return { npm_config_better_sqlite3_local_prebuilds: folder };
}

const COMPILED = "build/Release/better_sqlite3.node";

/** Installs without scripts, and takes the compiled driver from this repository, where npm installed it for real. */
export async function installFast(project: string): Promise<void> {
  await run(project, "npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts"]);
  const driver = join(project, "node_modules", "better-sqlite3");
  const own = join(REPOSITORY, "node_modules", "better-sqlite3");
  if (versionOf(driver) === versionOf(own)) cpSync(join(own, COMPILED), join(driver, COMPILED));
  else await run(project, "npm", ["rebuild", "better-sqlite3"]);
  if (!existsSync(join(driver, COMPILED))) throw new Error("there is no compiled better-sqlite3");
}

function versionOf(folder: string): string {
  return (JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string }).version;
}
