import { mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { environmentError } from "../exit.js";
import { echoed } from "../printable.js";
import type { PlannedFile } from "./plan.js";

export interface WriteOptions {
  /** Replace files that are there already. @default false */
  replace?: boolean;
}

/**
 * Writes all files or, when one of them fails, none: what was written is taken back and what was replaced is restored.
 *
 * @param directory made if it is not there
 * @returns the paths of files that were replaced
 * @throws CliError with the one that failed, and what could not be taken back
 */
export function writeFiles(
  directory: string,
  files: readonly PlannedFile[],
  { replace = false }: WriteOptions = {},
): string[] {
  const undo: { path: string; act: () => void }[] = [];
  const replaced: string[] = [];
  let path = directory;
  try {
    makeFolder(directory, undo);
    for (const file of files) {
      path = join(directory, file.path);
      makeFolder(dirname(path), undo);
      const target = path;
      const before = replace ? contentOf(target) : null;
      // Noted first: a write that fails may leave the beginning of a file.
      if (before !== null) undo.push({ path: target, act: () => writeFileSync(target, before) });
      else if (!replace) claim(target);
      if (before === null) undo.push({ path: target, act: () => rmSync(target, { force: true }) });
      writeFileSync(target, file.content);
      if (before !== null) replaced.push(file.path);
    }
    return replaced;
  } catch (error) {
    const { code = "error" } = error as NodeJS.ErrnoException;
    const left = takeBack(undo);
    const state = left.length === 0 ? "nothing was left behind" : `these could not be taken back: ${left.join(", ")}`;
    throw environmentError(`cannot write ${echoed(path)} (${code}); ${state}`);
  }
}

/** Makes the file, empty; somebody may have made one since the folder was looked at. */
function claim(path: string): void {
  writeFileSync(path, "", { flag: "wx" });
}

function contentOf(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

function makeFolder(folder: string, undo: { path: string; act: () => void }[]): void {
  const first = mkdirSync(folder, { recursive: true });
  if (first === undefined) return;
  // Every folder between the first that was made and the last.
  const made: string[] = [];
  for (let path = resolve(folder); path.length >= resolve(first).length; path = dirname(path)) made.unshift(path);
  for (const path of made) undo.push({ path, act: () => rmdirSync(path) });
}

function takeBack(undo: readonly { path: string; act: () => void }[]): string[] {
  return undo.toReversed().flatMap(({ path, act }) => {
    try {
      act();
      return [];
    } catch {
      return [echoed(path)];
    }
  });
}
