import { readFileSync } from "node:fs";
import { isSignalboxError } from "../../../errors.js";
import { checkSqliteVersion, loadDriver } from "../../../sqlite/sqlite-driver.js";
import { errorCode } from "../../options/exit.js";
import type { Subject } from "./examination.js";
import { blocker, ok, problem, refusedWith, type Finding } from "./findings.js";

export function examineNode({ surroundings: { nodeVersion } }: Subject): Finding[] {
  const needed = neededNode();
  if (isAtLeast(nodeVersion, needed)) return [ok("node_version", `Node ${nodeVersion}; ${needed} or later is needed`)];
  const fix = "Install a newer Node, and reinstall node_modules with it.";
  return [problem("node_too_old", `this is Node ${nodeVersion}; ${needed} or later is needed`, fix)];
}

export function examineDriver({ surroundings }: Subject): Finding[] {
  const version = surroundings.driverVersion();
  if (version === null) {
    const fix =
      "Run: npm install better-sqlite3. It is a dependency of signalbox, so the install may have been interrupted.";
    return [blocker("driver_missing", "better-sqlite3 is not installed", fix)];
  }
  try {
    loadDriver({ driver: version, node: surroundings.nodeVersion });
    surroundings.sqliteVersion();
  } catch (error) {
    if (isSignalboxError(error)) return [{ ...refusedWith("driver_crashes", error), blocks: true }];
    const fix = "Run: npm rebuild better-sqlite3. docs/installing.md lists what a build needs.";
    return [blocker("driver_broken", `better-sqlite3 ${version} does not load (${errorCode(error)})`, fix)];
  }
  return [ok("driver_version", `better-sqlite3 ${version}`)];
}

export function examineSqlite({ surroundings }: Subject): Finding[] {
  const version = surroundings.sqliteVersion();
  try {
    checkSqliteVersion(version);
  } catch (error) {
    if (isSignalboxError(error)) return [refusedWith("sqlite_too_old", error)];
    throw error;
  }
  return [ok("sqlite_version", `SQLite ${version}`)];
}

function neededNode(): string {
  const manifest = readFileSync(new URL("../../../../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { engines: { node: string } }).engines.node.replace(/^>=/, "");
}

function isAtLeast(version: string, least: string): boolean {
  const [found, wanted] = [version, least].map((text) => text.split(".").map(Number)) as [number[], number[]];
  const difference = wanted.map((part, index) => (found[index] ?? 0) - part).find((part) => part !== 0) ?? 0;
  return difference >= 0;
}
