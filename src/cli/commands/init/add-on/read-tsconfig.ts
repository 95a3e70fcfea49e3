import { readFileSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { isJsonObject } from "../../../deliveries/restamp.js";
import { stripComments } from "./strip-comments.js";

/** As much as is asked for; names of modes are in lower case. */
export interface CompilerOptions {
  module?: string;
  moduleResolution?: string;
  esModuleInterop?: boolean;
  allowImportingTsExtensions?: boolean;
  rewriteRelativeImportExtensions?: boolean;
  /** Absolute, as `outDir` is. */
  rootDir?: string;
  outDir?: string;
}

/** With what it extends. `null` when there is no such file, or it cannot be read. */
export function readCompilerOptions(path: string, seen: readonly string[] = []): CompilerOptions | null {
  if (seen.includes(path)) return null;
  let config: unknown;
  try {
    config = JSON.parse(stripComments(readFileSync(path, "utf8")).replaceAll(/,(?=\s*[}\]])/g, ""));
  } catch {
    return null;
  }
  if (!isJsonObject(config)) return null;
  const names = [config["extends"]].flat().filter((base) => typeof base === "string");
  const bases = names.map((base) => readBase(base, path, [...seen, path]));
  const own: Record<string, unknown> = isJsonObject(config["compilerOptions"]) ? { ...config["compilerOptions"] } : {};
  for (const name of ["module", "moduleResolution"]) {
    if (typeof own[name] === "string") own[name] = own[name].toLowerCase();
  }
  for (const name of ["rootDir", "outDir"]) {
    if (typeof own[name] === "string") own[name] = resolve(dirname(path), own[name]);
  }
  return Object.assign({}, ...bases, own) as CompilerOptions;
}

function readBase(base: string, from: string, seen: readonly string[]): CompilerOptions | null {
  const withEnding = base.endsWith(".json") ? [base] : [`${base}.json`, `${base}/tsconfig.json`];
  const folders = base.startsWith(".") || isAbsolute(base) ? [dirname(from)] : modulesAbove(dirname(from));
  for (const folder of folders) {
    for (const name of withEnding) {
      const found = readCompilerOptions(resolve(folder, name), seen);
      if (found !== null) return found;
    }
  }
  return null;
}

function modulesAbove(folder: string): string[] {
  const above = dirname(folder);
  return [join(folder, "node_modules"), ...(above === folder ? [] : modulesAbove(above))];
}
