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
import { MAX_SECRET_FILE_BYTES, secretLines, secretLockOf } from "../../../receiver/secret-file.js";
import { syncFolderOf } from "../../../stores/sqlite/wal-sync.js";
import { CliError, environmentError } from "../../options/exit.js";

/** A file of secrets that is about to get one more. While it is open, the receivers that read the file wait for the secret. */
export interface SecretWriter {
  /** The new content of the file, which is renamed over it. Absolute. */
  readonly lock: string;
  /** Others on this machine may use the file now. They may not once it is written. */
  readonly takesRights: boolean;
  /**
   * Adds the secret, unless the file has it already. The secret is on stable storage when this returns. What others
   * wrote into the file since it was opened stays.
   *
   * @throws CliError when the file could not be written: it is as it was, and the message says where the secret is
   */
  add(secret: string): void;
  /** Removes the lock if no secret was added. Idempotent. Never throws: its error would hide the one about a secret. */
  close(): void;
}

/** Reserves space on the disk for the secret: it is shown once, and the disk may be full by then. */
const ROOM = "\n".repeat(4096);

/**
 * Tries all that could keep a secret from being stored, before the service is asked for one. The lock is the file that
 * will be renamed over the other, as git does it.
 *
 * @throws CliError when the file cannot be written, is a link, holds something else than secrets, or is locked
 */
export function openSecretWriter(path: string): SecretWriter {
  const file = resolve(path);
  const lock = secretLockOf(file);
  const before = readExisting(file, path);
  const descriptor = openLock(lock, path);
  let isOpen = true;

  /** Whether the file of that name is the one that was made here. A user may have deleted it. */
  function isOurs(): boolean {
    try {
      return statSync(lock, { throwIfNoEntry: false })?.ino === fstatSync(descriptor).ino;
    } catch {
      return false;
    }
  }

  /** Closes the descriptor. The lock stays where it is. */
  function letGo(): void {
    isOpen = false;
    try {
      closeSync(descriptor);
    } catch {
      // What was written is synced already.
    }
  }

  function close(): void {
    if (!isOpen) return;
    const isThere = isOurs();
    letGo();
    try {
      if (isThere) rmSync(lock, { force: true });
    } catch {
      // The next registration finds the lock, and says what to do.
    }
  }

  /** Writes the secret into the lock, or beside it if the lock is gone, and says where it is. */
  function rescue(secret: string, error: unknown): CliError {
    const { message } = cannotWrite(path, error);
    const place = isOurs() ? lock : `${lock}.${process.pid}`;
    try {
      if (place === lock) write(descriptor, `${secret}\n`);
      else writeFileSync(place, `${secret}\n`, { flag: "wx", mode: 0o600 });
    } catch {
      return environmentError(`its secret is lost, since ${message}. Delete it in the dashboard`);
    }
    letGo();
    return environmentError(`${message}. Its secret is in ${place}: add it to ${path}, and delete that`);
  }

  try {
    const takesRights = before.stat !== null && adoptRights(descriptor, before.stat, path);
    write(descriptor, before.text + ROOM);
    return {
      lock,
      takesRights,
      add(secret) {
        if (secretLines(secret)[0] !== secret) {
          throw environmentError(
            `its secret is lost, since one that is no line of text cannot be kept in ${path}. Delete it in the dashboard`,
          );
        }
        try {
          // Read again: a user may have edited the file while the service was asked.
          const { text, stat } = readExisting(file, path);
          if (stat !== null) adoptRights(descriptor, stat, path);
          const isThere = secretLines(text).includes(secret);
          const start = text === "" || text.endsWith("\n") ? text : `${text}\n`;
          write(descriptor, isThere ? text : `${start}${secret}\n`);
          if (!isOurs()) throw environmentError(`${lock} was deleted or replaced meanwhile`);
          renameSync(lock, file);
        } catch (error) {
          throw rescue(secret, error);
        }
        letGo();
        syncName(file);
      },
      close,
    };
  } catch (error) {
    close();
    throw cannotWrite(path, error);
  }
}

function openLock(lock: string, path: string): number {
  try {
    return openSync(lock, "wx", 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw cannotWrite(path, error);
    throw environmentError(
      `${lock} is there: another registration is under way, or one was cut short. If none is, see whether it holds a secret ` +
        `that ${path} lacks, and delete it`,
    );
  }
}

/**
 * One word, as the document says no more of a secret. Not what other files hold: comments, sections, settings (`KEY=value`),
 * and lists with colons, as `/etc/passwd` is one.
 */
const SECRET_LINE = /^(?![#;[])(?![A-Za-z_]\w*=[^=])(?!(?:[^:]*:){2})\S+$/;

/**
 * A link is refused: as root we would write wherever another user made it lead to. So is a file that holds more than
 * secrets: its owner means it for something else.
 */
function readExisting(file: string, path: string): { text: string; stat: Stats | null } {
  const stat = attempt(path, () => lstatSync(file, { throwIfNoEntry: false }));
  if (stat === undefined) return { text: "", stat: null };
  if (stat.isSymbolicLink()) throw environmentError(`${path} is a link: name the file that it leads to`);
  if (!stat.isFile()) throw environmentError(`cannot keep secrets in ${path}: it is no regular file`);
  if (stat.size > MAX_SECRET_FILE_BYTES) throw environmentError(`${path} is too large for a file of secrets`);
  const text = attempt(path, () => readFileSync(file, "utf8"));
  const wrong = secretLines(text).find((line) => !line.startsWith("whsec_") && !SECRET_LINE.test(line));
  if (wrong === undefined) return { text, stat };
  const line = text.split(/\r?\n/).findIndex((each) => each.endsWith(wrong)) + 1;
  throw environmentError(`line ${line} of ${path} is no secret: secrets are kept one a line, in a file of their own`);
}

/**
 * The file keeps its owner, and a group that may read it may still do so. Others may not. The lock has the group of the
 * user or of the folder: if it cannot be given to the group of the file, that group must have no rights.
 *
 * @returns whether others could use the file
 */
function adoptRights(descriptor: number, { uid, gid, mode }: Stats, path: string): boolean {
  const self = process.getuid?.();
  if (self === undefined) return false;
  if (self !== 0 && self !== uid) {
    throw environmentError(`${path} belongs to another user: run this as the user of the receiver`);
  }
  if (self === 0 || fstatSync(descriptor).gid !== gid) {
    try {
      fchownSync(descriptor, uid, gid);
    } catch (error) {
      if (self === 0) throw error;
      if ((mode & 0o070) !== 0) {
        throw environmentError(`${path} belongs to a group that you are not in: run this as one of it`);
      }
    }
  }
  const isOpenToOthers = (mode & 0o007) !== 0;
  fchmodSync(descriptor, isOpenToOthers ? 0o600 : mode & 0o770);
  return isOpenToOthers;
}

function write(descriptor: number, text: string): void {
  const bytes = Buffer.from(text);
  let written = 0;
  // A disk that is nearly full takes a part of the bytes, without an error.
  while (written < bytes.byteLength) written += writeSync(descriptor, bytes, written, undefined, written);
  ftruncateSync(descriptor, bytes.byteLength);
  fsyncSync(descriptor);
}

/** Makes the new name survive a power cut. Not every file system can; the content is synced in any case. */
function syncName(file: string): void {
  try {
    syncFolderOf(file);
  } catch {
    // The secret is stored all the same.
  }
}

function attempt<Result>(path: string, act: () => Result): Result {
  try {
    return act();
  } catch (error) {
    throw cannotWrite(path, error);
  }
}

function cannotWrite(path: string, error: unknown): CliError {
  if (error instanceof CliError) return error;
  const { code } = error as NodeJS.ErrnoException;
  const why = code === "ENOENT" ? "its folder is not there" : (code ?? "error");
  return environmentError(`cannot write the secret file ${path} (${why})`);
}
