import { execFileSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

/** The preloaded libraries need Linux with its C library, and a C compiler. */
export const canPreload = process.platform === "linux" && hasCompiler();

function hasCompiler(): boolean {
  try {
    execFileSync("cc", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

const compiled = new Map<string, string>();

/** Compiled once in a process. @returns the library's path */
export function compile(source: URL): string {
  const known = compiled.get(source.href);
  if (known !== undefined) return known;
  const folder = mkdtempSync(join(tmpdir(), "signalbox-preload-"));
  const library = join(folder, `${basename(source.pathname, ".c")}.so`);
  const flags = ["-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror"];
  execFileSync("cc", [...flags, "-o", library, source.pathname, "-ldl"]);
  compiled.set(source.href, library);
  return library;
}
