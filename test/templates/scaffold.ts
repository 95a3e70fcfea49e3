import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
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

/**
 * A folder with the packed package alone, and in it a receiver that `npx signalbox init` made. The command needs no SQLite,
 * so nothing is compiled for it. All of it is gone when the test file is over.
 */
export async function scaffold(template: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-template-"));
  folders.push(folder);
  const { tarball } = pack();
  const name = basename(tarball);
  cpSync(tarball, join(folder, name));
  // npx keeps what it installs in npm's cache, which no test cleans.
  const env = { npm_config_cache: join(folder, "npm-cache"), npm_config_ignore_scripts: "true" };
  const line = ["--yes", "--package", `./${name}`, "signalbox", "init", "my-receiver"];
  await run(folder, "npx", [...line, "--template", template, "--no-install"], env);
  return join(folder, "my-receiver");
}

/** Installs without scripts, and takes the compiled driver from this repository, where npm installed it for real. */
export async function installFast(project: string): Promise<void> {
  await run(project, "npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts"]);
  const driver = join(project, "node_modules", "better-sqlite3");
  const own = join(REPOSITORY, "node_modules", "better-sqlite3");
  const compiled = "build/Release/better_sqlite3.node";
  if (versionOf(driver) === versionOf(own)) cpSync(join(own, compiled), join(driver, compiled));
  else await run(project, "npm", ["rebuild", "better-sqlite3"]);
  if (!existsSync(join(driver, compiled))) throw new Error("there is no compiled better-sqlite3");
}

function versionOf(folder: string): string {
  return (JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string }).version;
}
