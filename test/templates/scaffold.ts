import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll } from "vitest";
import { SENDER_NAMES } from "../../src/kit/senders/records.js";
import { pack, REPOSITORY } from "../package/installed.js";
import { run } from "./commands.js";

const OF_SIGNALS = ["express", "hono", "bullmq", "express-postgres", "bullmq-postgres"];
/** Template, store and sender. */
export const STARTERS = [
  ...OF_SIGNALS,
  ...SENDER_NAMES.map((sender) => `express-sqlite-${sender}`),
  "hono-postgres-github",
];

const COMPILED = "build/Release/better_sqlite3.node";

/**
 * A folder in which the built command has made every starter, each in a folder of its name. What
 * they all depend on is installed once, in the folder itself, where Node, npm and the compiler find
 * it from each. It is gone when the test file is over.
 */
export async function scaffoldAll(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-starters-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const { tarball } = pack();
  cpSync(tarball, join(folder, basename(tarball)));
  const all = { dependencies: {}, devDependencies: {} };
  for (const starter of STARTERS) {
    const [template = "", store = "sqlite", ...sender] = starter.split("-");
    const made = [
      join(folder, starter),
      "--template",
      template,
      "--store",
      store,
      "--no-install",
      "--no-git",
    ];
    if (sender.length > 0) made.push("--sender", sender.join("-"));
    const command = [
      join(REPOSITORY, "dist/cli/main.js"),
      "init",
      ...made,
      "--signalbox",
      join(folder, basename(tarball)),
    ];
    await run(folder, process.execPath, command);
    const manifest = JSON.parse(
      readFileSync(join(folder, starter, "package.json"), "utf8"),
    ) as typeof all;
    Object.assign(all.dependencies, manifest.dependencies, {
      signalbox: `file:./${basename(tarball)}`,
    });
    Object.assign(all.devDependencies, manifest.devDependencies);
  }
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ private: true, type: "module", ...all }),
  );
  // Without scripts: to compile the driver takes minutes, and npm has compiled one for this
  // repository.
  await run(folder, "npm", [
    "install",
    "--no-audit",
    "--no-fund",
    "--ignore-scripts",
    "--prefer-offline",
  ]);
  const [driver, own] = [folder, REPOSITORY].map((each) =>
    join(each, "node_modules", "better-sqlite3"),
  ) as [string, string];
  if (versionOf(driver) === versionOf(own)) cpSync(join(own, COMPILED), join(driver, COMPILED));
  else await run(folder, "npm", ["rebuild", "better-sqlite3"]);
  if (!existsSync(join(driver, COMPILED))) throw new Error("there is no compiled better-sqlite3");
  return folder;
}

function versionOf(folder: string): string {
  return (JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string })
    .version;
}
