import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "./start-process.js";

/**
 * Compiles signalbox of another commit beside the servers of this bench, which then load that one.
 * Dependencies are those that are installed here.
 *
 * @returns its folder, which the caller removes
 */
export function buildCommit(commit: string): string {
  // Not below this bench, which is copied into it.
  const folder = mkdtempSync(join(tmpdir(), "signalbox-bench-"));
  const files = execFileSync("git", ["archive", commit], { cwd: ROOT, maxBuffer: 2 ** 30 });
  execFileSync("tar", ["-x", "-C", folder], { input: files });
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  try {
    execFileSync(process.execPath, [join(ROOT, "node_modules/typescript/bin/tsc"), "-b"], {
      cwd: folder,
      stdio: "pipe",
    });
  } catch (error) {
    // Newer types than it was written for: it is compiled all the same.
    if (
      !existsSync(join(folder, "dist/index.js")) &&
      !existsSync(join(folder, "dist/kit/index.js"))
    )
      throw error;
  }
  const bench = "test/bench/dist";
  cpSync(join(ROOT, bench), join(folder, bench), { recursive: true });
  return folder;
}
