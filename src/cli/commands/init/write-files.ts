import { lstatSync, readFileSync, realpathSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { makeFolders } from "../../../sqlite/make-folders.js";
import { environmentError } from "../../options/exit.js";
import { echoed } from "../../console/printable.js";

/** A file that is going to be written. */
export interface PlannedFile {
  /** Inside the folder that is written to, with `/`. */
  path: string;
  content: string;
  /** It holds a secret: other users of the machine may not read it. */
  isPrivate?: true;
}

export interface WriteOptions {
  /** Replace files that are there already. @default false */
  replace?: boolean;
}

/** Only the owner may read and write. */
const PRIVATE_MODE = 0o600;
const USUAL_MODE = 0o666;

/**
 * Writes all files, or none if one of them fails: then new files are removed and replaced files get their content back.
 * Nothing is written through a link inside of the folder, since it may lead anywhere.
 *
 * @param directory made if it is not there
 * @returns the paths of files that were replaced
 * @throws CliError that names the file that failed, and files that could not be restored
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
    const undoFolder = (made: string): void => void undo.push({ path: made, act: () => rmdirSync(made) });
    makeFolders(directory, undoFolder);
    for (const file of files) {
      path = join(directory, file.path);
      makeFolders(dirname(path), undoFolder);
      assertInside(dirname(path), directory);
      const target = path;
      const before = replace ? contentOf(target) : null;
      // Noted before the write: one that fails may leave a part of the file.
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
    const state = left.length === 0 ? "nothing was left behind" : `these could not be restored: ${left.join(", ")}`;
    throw environmentError(`cannot write ${echoed(path)} (${code ?? message}); ${state}`);
  }
}

/** Makes the file, empty. Fails if the file was made since the folder was read. */
function claim(path: string, mode: number): void {
  writeFileSync(path, "", { flag: "wx", mode });
}

/** @throws Error for anything but a plain file: a link (also one to nothing), a folder, a pipe */
function contentOf(path: string): Buffer | null {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return null;
  if (found.isSymbolicLink()) throw new Error("it is a link");
  if (!found.isFile()) throw new Error("it is no file");
  return readFileSync(path);
}

/** @throws Error when a link on the way leads out of the folder */
function assertInside(folder: string, directory: string): void {
  const top = realpathSync(directory);
  const real = realpathSync(folder);
  if (real !== top && !real.startsWith(top.endsWith(sep) ? top : top + sep)) {
    throw new Error("a link leads out of the folder");
  }
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
