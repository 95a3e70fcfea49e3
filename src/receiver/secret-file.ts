import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync, statSync, type Stats } from "node:fs";
import { resolve } from "node:path";
import { SignalboxError } from "../errors.js";
import { isSame, type SecretSource } from "./secrets.js";

/** A {@link SecretSource} that reads a file. */
export interface SecretFile extends SecretSource {
  lookUp(): readonly string[];
  expectsMore(): boolean;
  readonly place: string;
}

/** The writer of a file of secrets makes this file beside it, writes into it, and renames it over the other. */
export function secretLockOf(path: string): string {
  return `${path}.lock`;
}

/** Two changes within the resolution of a file's times (FAT: 2 s) look like one. */
const TIME_RESOLUTION_MS = 2500;
/** Longer than any registration takes: an older lock was left behind by a process that died. */
const LOCK_LIFE_MS = 60_000;
export const MAX_SECRET_FILE_BYTES = 65_536;
const NONE: readonly string[] = [];

/**
 * The secrets of a file, one on each line, as `signalbox register` writes it and `--secret-file` reads it. A change counts
 * from the next delivery on: that costs each delivery a `stat`, about 2 µs. The file may be made later. Without it, or
 * while it is empty, no secret is known, and deliveries wait up to `secretWaitMs` for one. If the file is deleted, its
 * secrets are not valid any more. If it cannot be read, deliveries get 503 until it can.
 *
 * To change the file, write another one and rename it: a receiver may read a half-written file. If other users of this
 * machine can read it, there is a process warning (`SIGNALBOX_SECRET_FILE_OPEN`).
 *
 * @param path of a regular file of at most 64 KiB; relative to the folder that is current now
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
  /** The state of the file when it was read; null when there was none. */
  let readState: Stats | null = null;
  let lock = secretLockOf(file);
  let hasWarned = false;

  function read(): void {
    // A pipe without a writer would block without O_NONBLOCK.
    const descriptor = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      const stat = fstatSync(descriptor);
      if (!stat.isFile()) throw new Error("not a regular file");
      if (stat.size > MAX_SECRET_FILE_BYTES) throw new Error(`more than ${MAX_SECRET_FILE_BYTES} bytes`);
      const secrets = secretLines(readFileSync(descriptor, "utf8"));
      // The same array for the same secrets makes it cheap to see that nothing changed.
      if (!isSame(secrets, known)) known = secrets;
      readState = stat;
    } finally {
      closeSync(descriptor);
    }
    lock = secretLockOf(realpathSync(file));
    if (!hasWarned && isOpenToOthers(readState)) {
      hasWarned = true;
      warnOpenToOthers(file);
    }
  }

  function forget(): void {
    known = NONE;
    readState = null;
  }

  return {
    place: `the file ${file}`,
    lookUp() {
      try {
        const stat = statSync(file, { throwIfNoEntry: false });
        if (stat === undefined) forget();
        else if (readState === null || !isSameFile(stat, readState) || !isSettled(stat)) read();
      } catch (error) {
        forget();
        const { code, message } = error as NodeJS.ErrnoException;
        if (code !== "ENOENT") throw unreadable(file, code ?? message, error);
      }
      return known;
    },
    expectsMore() {
      const stat = statSync(lock, { throwIfNoEntry: false });
      return stat !== undefined && Math.abs(Date.now() - stat.mtimeMs) < LOCK_LIFE_MS;
    },
  };
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

// ssh refuses such a key. Here the receiver would be down, and Docker and Kubernetes mount secrets so by default.
function warnOpenToOthers(file: string): void {
  process.emitWarning(`Other users of this machine can use the secret file ${file}: run \`chmod o= ${file}\`.`, {
    code: "SIGNALBOX_SECRET_FILE_OPEN",
  });
}

function unreadable(file: string, reason: string, cause: unknown): SignalboxError {
  const help = "Make it a regular file that the receiver's user may read.";
  return new SignalboxError("secret_invalid", `The secret file ${file} cannot be read (${reason}).`, help, { cause });
}
