import {
  closeSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  lstatSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
  type Stats,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { MAX_SECRET_FILE_BYTES, secretLines, secretLockOf } from "../../../receiver/secret-file.js";
import { CliError, environmentError } from "../../options/exit.js";

/** A file of secrets that is about to get one more. Receivers that read it wait for it as long as it is open. */
export interface SecretWriter {
  /** The file that is to replace it. Absolute; beside where a link leads. */
  readonly lock: string;
  /** Others on this machine may use the file now, and will not when it is written. */
  readonly takesRights: boolean;
  /**
   * Adds the secret, or leaves the file as it is when it has it. On stable storage when it returns.
   *
   * What others added to the file meanwhile stays; what they write in the moment of the rename cannot.
   *
   * @throws CliError when it could not; the file is as it was then, and the secret in the lock, if that could be written
   */
  add(secret: string): void;
  /** Adds nothing more. Idempotent; never throws: it would take the place of what is told of a secret. */
  close(): void;
}

/** Room for the secret, taken before anybody asks for it: a secret is shown once, and the disk may be full by then. */
const ROOM = "\n".repeat(4096);

/** As many as Linux follows; in a circle `stat` has failed before. */
const MAX_LINKS = 40;

/**
 * All that could keep a secret from being stored is tried here, before there is one: the lock is the file that will be
 * renamed over the other, as git does.
 *
 * @throws CliError when the file cannot be written, or somebody else is at it
 */
export function openSecretWriter(path: string): SecretWriter {
  const file = targetOf(path);
  const lock = secretLockOf(file);
  const descriptor = openLock(lock, path);
  let isOpen = true;

  /** Unless somebody deleted it by hand: what is renamed or removed has to be what was made here, and be seen to be. */
  function isOurs(): boolean {
    try {
      return statSync(lock, { throwIfNoEntry: false })?.ino === fstatSync(descriptor).ino;
    } catch {
      return false;
    }
  }

  function letGo(): void {
    isOpen = false;
    try {
      closeSync(descriptor);
    } catch {
      // What counts was synced before.
    }
  }

  function close(): void {
    if (!isOpen) return;
    const isThere = isOurs();
    letGo();
    try {
      if (isThere) rmSync(lock, { force: true });
    } catch {
      // The next registration finds it, and says what to do.
    }
  }

  /** The secret alone, where somebody finds it: it is shown once. */
  function rescue(secret: string, error: unknown): CliError {
    const { message } = error instanceof CliError ? error : cannotWrite(path, error);
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
    const before = readExisting(file, path);
    const takesRights = before.stat !== null && adoptRights(descriptor, before.stat, path);
    write(descriptor, before.text + ROOM);
    return {
      lock,
      takesRights,
      add(secret) {
        const [line] = secretLines(`${secret}\n`);
        if (line !== secret) {
          throw environmentError(
            `its secret is lost, since one that is no line of text cannot be kept in ${path}. Delete it in the dashboard`,
          );
        }
        try {
          // Again: somebody may have edited it while the service was asked.
          const { text, stat } = readExisting(file, path);
          if (stat !== null) adoptRights(descriptor, stat, path);
          const isThere = secretLines(text).includes(secret);
          write(descriptor, isThere ? text : `${terminated(text)}${secret}\n`);
          if (!isOurs()) throw environmentError(`${lock} was deleted or replaced meanwhile`);
          renameSync(lock, file);
        } catch (error) {
          throw rescue(secret, error);
        }
        letGo();
        syncFolder(dirname(file));
      },
      close,
    };
  } catch (error) {
    close();
    throw error instanceof CliError ? error : cannotWrite(path, error);
  }
}

/** Where a link leads, also to a file that is not there yet: the link is to stay one. */
function targetOf(path: string): string {
  try {
    let file = resolve(path);
    for (let links = 0; links < MAX_LINKS; links++) {
      if (statSync(file, { throwIfNoEntry: false }) !== undefined) return realpathSync(file);
      file = join(realpathSync(dirname(file)), basename(file));
      if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return file;
      file = resolve(dirname(file), readlinkSync(file));
    }
    return file;
  } catch (error) {
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

function readExisting(file: string, path: string): { text: string; stat: Stats | null } {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat === undefined) return { text: "", stat: null };
  if (!stat.isFile()) throw environmentError(`cannot keep secrets in ${path}: it is no regular file`);
  if (stat.size > MAX_SECRET_FILE_BYTES) throw environmentError(`${path} is too large for a file of secrets`);
  const text = readFileSync(file, "utf8");
  if (secretLines(text).some(isAssignment)) {
    throw environmentError(`${path} looks like an .env file: secrets are kept one a line, in a file of their own`);
  }
  return { text, stat };
}

function isAssignment(line: string): boolean {
  return /^(export\s+)?[A-Z][A-Z0-9_]*=[^=]/.test(line);
}

/**
 * The owner's file stays the owner's, and a group that may read it may do so; others may not. A new file has the group of who
 * makes it, or of its folder: where it cannot be given to the old one's, that group gets no right.
 *
 * @returns whether they could
 */
function adoptRights(descriptor: number, { uid, gid, mode }: Stats, path: string): boolean {
  const self = process.getuid?.();
  if (self === undefined) return false;
  if (self !== 0 && self !== uid)
    throw environmentError(`${path} belongs to another user: run this as the user of the receiver`);
  const isOpen = (mode & 0o007) !== 0;
  if (self === 0 || fstatSync(descriptor).gid !== gid) {
    try {
      fchownSync(descriptor, uid, gid);
    } catch (error) {
      if (self === 0) throw error;
      if ((mode & 0o070) !== 0)
        throw environmentError(`${path} belongs to a group that you are not in: run this as one of it`);
    }
  }
  fchmodSync(descriptor, isOpen ? 0o600 : mode & 0o770);
  return isOpen;
}

function write(descriptor: number, text: string): void {
  const bytes = Buffer.from(text);
  let written = 0;
  while (written < bytes.byteLength) written += writeSync(descriptor, bytes, written, undefined, written);
  ftruncateSync(descriptor, bytes.byteLength);
  fsyncSync(descriptor);
}

function terminated(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

/** So that the new name outlives a power cut. Not every system can; the file itself is synced. */
function syncFolder(folder: string): void {
  let descriptor: number | null = null;
  try {
    descriptor = openSync(folder, "r");
    fsyncSync(descriptor);
  } catch {
    // As on Windows.
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}

function cannotWrite(path: string, error: unknown): CliError {
  const { code } = error as NodeJS.ErrnoException;
  const why = code === "ENOENT" ? "its folder is not there" : (code ?? "error");
  return environmentError(`cannot write the secret file ${path} (${why})`);
}
