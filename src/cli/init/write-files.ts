import { lstatSync, readFileSync, realpathSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { makeFolders } from "../../base/files.js";
import { environmentError } from "../console/exit.js";
import { echoed } from "../console/terminal.js";

export interface PlannedFile {
  /** Relative to the target folder, with `/`. */
  path: string;
  content: string | Uint8Array;
  /** The file holds a secret, so other users of the machine must not be able to read it. */
  isPrivate?: true;
}

/**
 * Writes all files. If one cannot be written, new files are removed and replaced files are
 * restored. A link that would lead a file out of the folder is an error, and so is a link in place
 * of a file.
 *
 * @param directory is created if it does not exist
 * @param options `replace`: whether existing files are replaced
 * @returns the paths of the replaced files
 * @throws CliError that names the file that failed, and files that could not be restored
 */
export function writeFiles(
  directory: string,
  files: readonly PlannedFile[],
  { replace }: { replace: boolean },
): string[] {
  const undo: { path: string; act: () => void }[] = [];
  const replaced: string[] = [];
  let path = directory;
  try {
    const undoFolder = (made: string): void =>
      void undo.push({ path: made, act: () => rmdirSync(made) });
    makeFolders(directory, undoFolder);
    for (const file of files) {
      path = join(directory, file.path);
      makeFolders(dirname(path), undoFolder);
      assertInside(dirname(path), directory);
      const target = path;
      const before = replace ? contentOf(target) : null;
      // The undo step is added before the content is written, because a failed write may leave a
      // part of the file.
      if (before !== null) undo.push({ path: target, act: () => writeFileSync(target, before) });
      else {
        // The flag `wx` makes this fail if the file exists, even if another process has only just
        // created it.
        writeFileSync(target, "", { flag: "wx", mode: file.isPrivate ? 0o600 : 0o666 });
        undo.push({ path: target, act: () => rmSync(target, { force: true }) });
      }
      writeFileSync(target, file.content);
      if (before !== null) replaced.push(file.path);
    }
    return replaced;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const left = takeBack(undo);
    const state =
      left.length === 0
        ? "all changes were undone"
        : `these files could not be restored: ${left.join(", ")}`;
    throw environmentError(`cannot write ${echoed(path)} (${code ?? message}); ${state}`);
  }
}

/** @throws Error if the path is a link, a folder or a pipe */
function contentOf(path: string): Buffer | null {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return null;
  if (found.isSymbolicLink()) throw new Error("it is a link");
  if (!found.isFile()) throw new Error("it is not a file");
  return readFileSync(path);
}

/** @throws Error when a link in the path of `folder` points out of `directory` */
function assertInside(folder: string, directory: string): void {
  const top = realpathSync(directory);
  const real = realpathSync(folder);
  if (real !== top && !real.startsWith(top.endsWith(sep) ? top : top + sep)) {
    throw new Error("a link points out of the folder");
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
