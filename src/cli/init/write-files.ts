import { lstatSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
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
 * Writes all files. A link on the way to one, or something else in its place, is an error before the
 * first is written.
 *
 * @param directory is created if it does not exist
 * @param options `replace`: whether existing files are replaced
 * @returns the paths of the replaced files
 * @throws CliError that names the file that failed
 */
export function writeFiles(
  directory: string,
  files: readonly PlannedFile[],
  { replace }: { replace: boolean },
): string[] {
  let file = "";
  try {
    const replaced = files.filter(({ path }) => {
      file = path;
      return isFileAt(directory, path);
    });
    for (const { path, content, isPrivate } of files) {
      file = path;
      const target = join(directory, path);
      makeFolders(dirname(target));
      // The flag `wx` makes this fail if the file exists, even if another process has only just
      // created it.
      const flag = replace ? "w" : "wx";
      writeFileSync(target, content, { flag, mode: isPrivate ? 0o600 : 0o666 });
    }
    return replaced.map(({ path }) => path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw environmentError(`cannot write ${echoed(join(directory, file))} (${code ?? message})`);
  }
}

/** @throws Error if a link leads there, or something else than a file is there */
function isFileAt(directory: string, path: string): boolean {
  const names = path.split("/");
  for (const [index] of names.entries()) {
    const found = lstatSync(join(directory, ...names.slice(0, index + 1)), {
      throwIfNoEntry: false,
    });
    if (found === undefined) return false;
    if (found.isSymbolicLink()) throw new Error("there is a link on the way");
    const isLast = index === names.length - 1;
    if (isLast ? !found.isFile() : !found.isDirectory())
      throw new Error(`something else than a ${isLast ? "file" : "folder"} is there`);
  }
  return true;
}
