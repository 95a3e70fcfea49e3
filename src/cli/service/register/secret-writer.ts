import {
  closeSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
  type Stats,
} from "node:fs";
import { resolve } from "node:path";
import { safely } from "../../../base/errors.js";
import { syncFolderOf } from "../../../base/files.js";
import {
  MAX_SECRET_FILE_BYTES,
  secretLines,
  secretLockOf,
} from "../../../kit/receiver/secrets/secret-file.js";
import { CliError, environmentError, errorCode } from "../../console/exit.js";

/**
 * Written to the lock before the call, so that the secret has disk space even if the disk gets full
 * during the call.
 */
const ROOM = "\n".repeat(4096);

export type SecretWriter = ReturnType<typeof openSecretWriter>;

/**
 * Adds secrets to a file. While the writer is open, receivers that read the file wait for the new
 * secret. The lock is a file next to the secret file: it gets the new content, and is then renamed to
 * the secret file, so that readers never see half of the content. It is made before the service is
 * asked for a secret, which so can be stored.
 *
 * @throws CliError when the file cannot be written, is a link, holds data other than secrets, or is
 * locked
 */
export function openSecretWriter(path: string) {
  const file = resolve(path);
  const lock = secretLockOf(file);
  const { descriptor, takesRights } = openLock(file, lock, path);
  /** The lock is the only place of a secret. */
  let holdsSecret = false;

  /** Whether the lock is still this writer's: it may be renamed, or deleted by a user. */
  function isOurs(): boolean {
    return statSync(lock, { throwIfNoEntry: false })?.ino === fstatSync(descriptor).ino;
  }

  /** Gives the file a new content, which is computed from its present content. */
  function change(edit: (text: string) => string): void {
    // Read again, because a user may have edited the file in the meantime.
    const { text, stat } = readExisting(file, path);
    if (stat !== null) adoptRights(descriptor, stat, path);
    write(descriptor, edit(text));
    if (!isOurs()) throw environmentError(`${lock} was deleted or replaced in the meantime`);
    renameSync(lock, file);
    // The content is synced, and some file systems cannot sync the rename.
    safely(() => syncFolderOf(file), undefined);
  }

  /**
   * Leaves the secret in the lock, or in a new file if a user deleted the lock. The error says
   * where the secret is.
   */
  function rescue(secret: string, error: unknown): CliError {
    const { message } = cannotWrite(path, error);
    holdsSecret = safely(isOurs, false);
    try {
      const place = holdsSecret ? lock : `${lock}.${process.pid}`;
      if (holdsSecret) write(descriptor, `${secret}\n`);
      else writeFileSync(place, `${secret}\n`, { flag: "wx", mode: 0o600, flush: true });
      return environmentError(
        `${message}. Its secret is in ${place}: add the secret to ${path}, and delete ${place}`,
      );
    } catch {
      holdsSecret = false;
      return environmentError(
        `its secret is lost, because: ${message}. Delete the registration in the dashboard`,
      );
    }
  }

  return {
    /** The absolute path of the lock. */
    lock,
    /** Whether other users of this machine have access to the file, which `add` then removes. */
    takesRights,
    /**
     * Adds the secret, unless the file has it already, and syncs the file. Keeps changes that
     * others made to the file after the writer was opened.
     *
     * @throws CliError when the file could not be written. The file is then unchanged, and the
     * message says where the secret is.
     */
    add(secret: string): void {
      if (secretLines(secret)[0] !== secret) {
        throw environmentError(
          `its secret is lost, because it is not a line of text, which ${path} needs. Delete the registration in the dashboard`,
        );
      }
      try {
        change((text) => {
          const start = text === "" || text.endsWith("\n") ? text : `${text}\n`;
          return secretLines(text).includes(secret) ? text : `${start}${secret}\n`;
        });
      } catch (error) {
        throw rescue(secret, error);
      }
    },
    /** Other lines stay. @throws Error when the file could not be written; it is then unchanged */
    remove(secrets: readonly string[]): void {
      change((text) => {
        const lines = text.split(/(?<=\n)/);
        return lines.filter((line) => !secrets.includes(line.trimEnd())).join("");
      });
    },
    /**
     * Removes the lock if it holds no secret. To be called once. Never throws, because its error
     * would hide the error of `add`.
     */
    close(): void {
      // If the lock stays, the next registration is refused, and its error says what to do.
      safely(() => !holdsSecret && isOurs() && rmSync(lock), undefined);
      // The content is synced already.
      safely(() => closeSync(descriptor), undefined);
    },
  };
}

/** Makes the lock, with the content and the rights of the file, and room for a secret. */
function openLock(file: string, lock: string, path: string) {
  try {
    const { text, stat } = readExisting(file, path);
    const descriptor = openSync(lock, "wx", 0o600);
    try {
      const takesRights = stat !== null && adoptRights(descriptor, stat, path);
      write(descriptor, text + ROOM);
      return { descriptor, takesRights };
    } catch (error) {
      safely(() => closeSync(descriptor), undefined);
      safely(() => rmSync(lock), undefined);
      throw error;
    }
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw cannotWrite(path, error);
    throw environmentError(
      `${lock} exists: another registration is running, or was killed. If none is running, add the secret in ${lock}, if any, ` +
        `to ${path}, and delete ${lock}`,
    );
  }
}

/**
 * The service's document does not define the form of a secret. So any word is accepted, except
 * words that show another kind of file: comments, sections, settings (`KEY=value`), and lists with
 * colons such as `/etc/passwd`.
 */
const SECRET_LINE = /^(?![#;[])(?![A-Za-z_]\w*=[^=])(?!(?:[^:]*:){2})\S+$/;

const isSecret = (line: string): boolean => line.startsWith("whsec_") || SECRET_LINE.test(line);

/**
 * Refuses a link, because another user could point it to a file that only root can write. Refuses a
 * file with other content, because it is not a file for secrets, and may be named by mistake.
 */
function readExisting(file: string, path: string): { text: string; stat: Stats | null } {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (stat === undefined) return { text: "", stat: null };
  if (stat.isSymbolicLink())
    throw environmentError(`${path} is a link: give the path of its target`);
  if (!stat.isFile())
    throw environmentError(`cannot store secrets in ${path}: it is not a regular file`);
  if (stat.size > MAX_SECRET_FILE_BYTES)
    throw environmentError(`${path} is too large for a file of secrets`);
  const text = readFileSync(file, "utf8");
  const wrong = secretLines(text).find((line) => !isSecret(line));
  if (wrong === undefined) return { text, stat };
  const line = text.split(/\r?\n/).findIndex((each) => each.endsWith(wrong)) + 1;
  throw environmentError(
    `line ${line} of ${path} is not a secret: name a separate file for secrets, with one secret per line`,
  );
}

/**
 * Gives the lock the owner, group and mode of the file, but without access for other users. The
 * lock is created with the group of the user or of the folder. If that group cannot be changed to
 * the group of the file, and the mode of the file gives access to its group, the file is refused.
 *
 * @returns whether other users had access to the file
 */
function adoptRights(descriptor: number, { uid, gid, mode }: Stats, path: string): boolean {
  const self = process.getuid?.();
  if (self === undefined) return false;
  if (self !== 0 && self !== uid)
    throw environmentError(`${path} belongs to another user: run this as the user of the receiver`);
  try {
    if (self === 0 || fstatSync(descriptor).gid !== gid) fchownSync(descriptor, uid, gid);
  } catch (error) {
    if (self === 0) throw error;
    if ((mode & 0o070) !== 0) {
      throw environmentError(
        `${path} belongs to a group that you are not in: run this as a member of that group`,
      );
    }
  }
  const isOpenToOthers = (mode & 0o007) !== 0;
  fchmodSync(descriptor, isOpenToOthers ? 0o600 : mode & 0o770);
  return isOpenToOthers;
}

function write(descriptor: number, text: string): void {
  const bytes = Buffer.from(text);
  let written = 0;
  // In a loop, because the system may write only a part of the bytes without an error, such as on a
  // nearly full disk.
  while (written < bytes.byteLength)
    written += writeSync(descriptor, bytes, written, undefined, written);
  ftruncateSync(descriptor, bytes.byteLength);
  fsyncSync(descriptor);
}

function cannotWrite(path: string, error: unknown): CliError {
  if (error instanceof CliError) return error;
  const code = errorCode(error);
  const why = code === "ENOENT" ? "its folder does not exist" : code;
  return environmentError(`cannot write the secret file ${path} (${why})`);
}
