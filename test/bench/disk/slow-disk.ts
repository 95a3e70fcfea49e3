import { execFileSync } from "node:child_process";
import { join } from "node:path";

/**
 * The compiled bench is in `dist/bench` below its sources, and the compiler leaves the C where it
 * is.
 */
const SOURCE = join(import.meta.dirname, "../../../disk/slow-sync.c");

/** A program that prints how long a sync of a file takes. */
const TRIAL = `
  const { fdatasyncSync, openSync, writeSync } = require("node:fs");
  const file = openSync(process.argv[1], "w");
  writeSync(file, "x");
  const before = performance.now();
  fdatasyncSync(file);
  console.log(performance.now() - before);`;

/**
 * What a process must be started with to have a disk whose syncs take so long.
 *
 * @param under where the library and the files of a trial are made
 */
export function makeSlowDisk(
  under: string,
  syncMs: number,
): { env: NodeJS.ProcessEnv } | { skipped: string } {
  if (process.platform !== "linux") return { skipped: `no LD_PRELOAD on ${process.platform}` };
  const library = join(under, "slow-sync.so");
  try {
    execFileSync("cc", ["-shared", "-fPIC", "-O2", "-o", library, SOURCE, "-ldl", "-lpthread"], {
      stdio: "pipe",
    });
  } catch (error) {
    return { skipped: `the C compiler cc failed: ${(error as Error).message}` };
  }
  const env = { LD_PRELOAD: library, SLOW_SYNC_MS: String(syncMs) };
  // A library that is not loaded is silent, and everything would look fast.
  const measured = execFileSync(process.execPath, ["-e", TRIAL, join(under, "trial")], {
    env: { ...process.env, ...env },
    encoding: "utf8",
  });
  return Number(measured) < syncMs
    ? { skipped: `the slow disk synced in ${measured.trim()} ms` }
    : { env };
}
