import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { REPOSITORY } from "../package/installed.js";
import { run } from "../templates/commands.js";
import { envOf, type Tool } from "../toolchain/fetch-tools.js";
import { COMPILE_QUICKLY, makeProject, WORKSHOP } from "../toolchain/workshop.js";

const PREBUILDS = join(WORKSHOP, "prebuilds");
const COMPILED = "build/Release/better_sqlite3.node";

/**
 * What better-sqlite3 12 would fetch for this Node, made here: its install script then finds it in
 * a folder, so that every package manager can be seen to run that script, and nothing is compiled
 * twice. Version 13 brings its binaries along.
 *
 * @returns variables for whoever installs
 */
export async function driverBinary(node: Tool): Promise<Record<string, string>> {
  const { stdout } = await promisify(execFile)(join(node.folder, "bin/node"), [
    "-p",
    "process.versions.modules",
  ]);
  const own = join(REPOSITORY, "node_modules/better-sqlite3");
  const { version } = JSON.parse(readFileSync(join(own, "package.json"), "utf8")) as {
    version: string;
  };
  const abi = stdout.trim();
  const name = `better-sqlite3-v${version}-node-v${abi}-${process.platform}-${process.arch}.tar.gz`;
  const archive = join(PREBUILDS, name);
  if (!existsSync(archive)) {
    mkdirSync(PREBUILDS, { recursive: true });
    const isOwn = abi === process.versions.modules && existsSync(join(own, COMPILED));
    const from = isOwn ? own : await compile(version, node);
    await promisify(execFile)("tar", ["-czf", archive, "-C", from, COMPILED]);
  }
  return { npm_config_better_sqlite3_local_prebuilds: PREBUILDS };
}

async function compile(version: string, node: Tool): Promise<string> {
  const folder = makeProject(`compile-${node.name}`);
  const env = { ...envOf(node), ...COMPILE_QUICKLY };
  await run(folder, "npm", ["install", "--ignore-scripts", `better-sqlite3@${version}`], env);
  await run(folder, "npm", ["rebuild", "better-sqlite3"], env);
  return join(folder, "node_modules/better-sqlite3");
}
