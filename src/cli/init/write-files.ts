import { lstatSync, mkdirSync, readFileSync, realpathSync, rmdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";
import { environmentError } from "../exit.js";
import { echoed } from "../printable.js";
import type { PlannedFile } from "./plan.js";

export interface WriteOptions {
  /** Replace files that are there already. @default false */
  replace?: boolean;
}

/** Of files that hold a secret: for their owner alone. */
const PRIVATE_MODE = 0o600;
const USUAL_MODE = 0o666;

/**
 * Writes all files or, when one of them fails, none: what was written is taken back and what was replaced is restored.
 * Nothing is written through a link inside of the folder: it may lead to what has nothing to do with it.
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
      assertInside(dirname(path), directory);
      const target = path;
      const before = replace ? contentOf(target) : null;
      // Noted first: a write that fails may leave the beginning of a file.
      if (before !== null) undo.push({ path: target, act: () => writeFileSync(target, before) });
      else {
        claim(target, file.isPrivate === true ? PRIVATE_MODE : USUAL_MODE);
        undo.push({ path: target, act: () => rmSync(target, { force: true }) });
      }
      writeFileSync(target, file.content);
      if (before !== null) replaced.push(file.path);
    }
    return replaced;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const left = takeBack(undo);
    const state = left.length === 0 ? "nothing was left behind" : `these could not be taken back: ${left.join(", ")}`;
    throw environmentError(`cannot write ${echoed(path)} (${code ?? message}); ${state}`);
  }
}

/** Makes the file, empty; somebody may have made one since the folder was looked at. */
function claim(path: string, mode: number): void {
  writeFileSync(path, "", { flag: "wx", mode });
}

/** @throws Error for what is no plain file: a link, even one that leads nowhere, a folder, a pipe */
function contentOf(path: string): Buffer | null {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return null;
  if (found.isSymbolicLink()) throw new Error("it is a link");
  if (!found.isFile()) throw new Error("it is no file");
  return readFileSync(path);
}

/** @throws Error when a link on the way leads elsewhere */
function assertInside(folder: string, directory: string): void {
  const top = realpathSync(directory);
  const real = realpathSync(folder);
  if (real !== top && !real.startsWith(top.endsWith(sep) ? top : top + sep)) {
    throw new Error("a link leads out of the folder");
  }
}

/**
 * Makes it and what is missing above it, one by one. With `recursive` Node 20 tries for ever where the folder above is there
 * and the file system still says that it is not, as in `/proc`.
 */
function makeFolder(folder: string, undo: { path: string; act: () => void }[]): void {
  const missing: string[] = [];
  for (let path = resolve(folder); !isThere(path) && path !== dirname(path); path = dirname(path))
    missing.unshift(path);
  for (const path of missing) {
    mkdirSync(path);
    undo.push({ path, act: () => rmdirSync(path) });
  }
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
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
