import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync, statSync, type Stats } from "node:fs";
import { resolve } from "node:path";
import { SignalboxError } from "../errors.js";

/** What the receiver knows of a source that is a file. */
export const SECRET_FILE = Symbol("signalbox.secretFile");

/** A {@link SecretSource} that reads a file. Gives nothing while there is no such file, or no secret in it. */
export interface SecretFile {
  (): readonly string[];
  /** @internal */
  readonly [SECRET_FILE]: {
    path: string;
    /** Whether somebody is about to store another secret: what no known one signed is worth a wait. */
    expectsMore: () => boolean;
  };
}

/** Whoever changes a file of secrets makes this file beside it, and renames it over the other when all is written. */
export function secretLockOf(path: string): string {
  return `${path}.lock`;
}

/** Two changes within the resolution of a file's times (FAT: 2 s) look like one. */
const TIME_RESOLUTION_MS = 2500;
/** Longer than any registration takes: a lock that is older was left behind by a process that died. */
const LOCK_LIFE_MS = 60_000;
export const MAX_SECRET_FILE_BYTES = 65_536;
const NONE: readonly string[] = [];

/**
 * The secrets of a file, one a line, as `signalbox register` writes it and `--secret-file` takes it. Changes count from the
 * next delivery on: that costs each of them a `stat`, about 2 µs. The file need not be there yet. Without it, or with an
 * empty one, no secret is known, and the receiver waits up to `secretWaitMs` for one. A file that was deleted takes its
 * secrets with it; one that cannot be read is an error, and deliveries get 503 until it can.
 *
 * Whoever writes it must do so in another file and rename that: half a secret is one too. Should others on this machine be
 * able to read it, there is a process warning (`SIGNALBOX_SECRET_FILE_OPEN`).
 *
 * @param path of a regular file, at most 64 KiB; relative to the folder that is current now
 * @throws SignalboxError `option_invalid` for a path that is no text
 * @example
 * const receiver = createReceiver({ secrets: secretFile("signals.secret"), store: sqliteStore("signals.db"), onSignal });
 */
export function secretFile(path: string): SecretFile {
  if (typeof path !== "string" || path === "") {
    throw new SignalboxError("option_invalid", "secretFile was given no path.", 'Pass one, such as "signals.secret".');
  }
  const file = resolve(path);
  let known = NONE;
  let seen: Stats | null = null;
  let lock = secretLockOf(file);
  let hasWarned = false;

  function read(): void {
    // Not to be held up by a pipe that nobody writes to.
    const descriptor = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      const stat = fstatSync(descriptor);
      if (!stat.isFile()) throw new Error("not a regular file");
      if (stat.size > MAX_SECRET_FILE_BYTES) throw new Error(`more than ${MAX_SECRET_FILE_BYTES} bytes`);
      const secrets = secretLines(readFileSync(descriptor, "utf8"));
      // The same array for the same secrets: so it is cheap to see that nothing changed.
      if (!isSame(secrets, known)) known = secrets;
      seen = stat;
    } finally {
      closeSync(descriptor);
    }
    lock = secretLockOf(realpathSync(file));
    if (!hasWarned && isOpenToOthers(seen)) hasWarned = warn(file);
  }

  function look(): readonly string[] {
    try {
      const stat = statSync(file, { throwIfNoEntry: false });
      if (stat === undefined) forget();
      else if (seen === null || !isSameFile(stat, seen) || !isSettled(stat)) read();
    } catch (error) {
      forget();
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== "ENOENT") throw unreadable(file, code ?? message, error);
    }
    return known;
  }

  function forget(): void {
    known = NONE;
    seen = null;
  }

  function expectsMore(): boolean {
    const stat = statSync(lock, { throwIfNoEntry: false });
    return stat !== undefined && Math.abs(Date.now() - stat.mtimeMs) < LOCK_LIFE_MS;
  }

  return Object.assign(look, { [SECRET_FILE]: { path: file, expectsMore } });
}

/**
 * The secrets in a file's text, one on each line; blank lines are skipped. There are no comments, and lines are not trimmed:
 * blanks and `#` may belong to a secret. A byte order mark at the start is dropped.
 */
export function secretLines(text: string): string[] {
  return text
    .replace(/^\ufeff/, "")
    .split(/\r?\n/)
    .filter((line) => line.trim() !== "");
}

/** Whether two lists hold the same secrets in the same order. */
export function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a === b || (a.length === b.length && a.every((secret, index) => secret === b[index]));
}

function isSameFile(a: Stats, b: Stats): boolean {
  return a.ino === b.ino && a.size === b.size && a.mtimeMs === b.mtimeMs && a.ctimeMs === b.ctimeMs;
}

/** By the machine's clock, as the times of files are. */
function isSettled({ mtimeMs, ctimeMs }: Stats): boolean {
  return Date.now() - Math.max(mtimeMs, ctimeMs) > TIME_RESOLUTION_MS;
}

function isOpenToOthers({ mode }: Stats): boolean {
  return process.platform !== "win32" && (mode & 0o007) !== 0;
}

// ssh refuses a key like this. A receiver would be down then, and Docker and Kubernetes mount secrets so by default.
function warn(file: string): true {
  process.emitWarning(`The secret file ${file} is not kept from others on this machine: \`chmod o= ${file}\`.`, {
    code: "SIGNALBOX_SECRET_FILE_OPEN",
  });
  return true;
}

function unreadable(file: string, why: string, cause: unknown): SignalboxError {
  const help = "Make it a regular file that the receiver's user may read.";
  return new SignalboxError("secret_invalid", `The secret file ${file} cannot be read (${why}).`, help, { cause });
}
