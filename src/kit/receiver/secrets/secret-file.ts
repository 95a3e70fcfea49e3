import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  realpathSync,
  statSync,
  type Stats,
} from "node:fs";
import { resolve } from "node:path";
import { SignalboxError } from "../../../base/errors.js";
import { MINUTE_MS } from "../../../base/time/units.js";
import { isSame, type SecretSource } from "./secrets.js";

/** A {@link SecretSource} that reads a file. */
export interface SecretFile extends SecretSource {
  lookUp(): readonly string[];
  expectsMore(): boolean;
  readonly place: string;
}

/**
 * A writer makes this file, writes the new secrets into it and renames it to the secret file. Until
 * then it announces them.
 */
export function secretLockOf(path: string): string {
  return `${path}.lock`;
}

/**
 * A file that changed less than this ago is read for each delivery, since two quick changes can
 * have one time (FAT: 2 s).
 */
const TIME_RESOLUTION_MS = 2500;
/**
 * An older lock file is ignored. A process that died left it behind, because no registration takes
 * this long.
 */
const LOCK_LIFE_MS = MINUTE_MS;
export const MAX_SECRET_FILE_BYTES = 65_536;

/**
 * Reads the secrets from a file with one on each line, as `signalbox register` writes it and
 * `--secret-file` reads it. A change is used from the next delivery on; to find it, each delivery
 * calls `stat`, which takes about 2 µs. While the file is missing or empty, deliveries wait up to
 * `secretWaitMs` for a secret. Secrets that are no longer in the file are not valid. While the file
 * cannot be read, deliveries get 503.
 *
 * To change the file, write a new file and rename it; otherwise a receiver may read a half-written
 * file. If other users of this machine can read it, Node prints the process warning
 * `SIGNALBOX_SECRET_FILE_OPEN`.
 *
 * @param path of a regular file of at most 64 KiB, relative to the current folder
 * @throws SignalboxError `option_invalid` for a path that is not a text
 * @example
 * const receiver = createReceiver({ secrets: secretFile("signals.secret"), store: sqliteStore("signals.db"), onSignal });
 */
export function secretFile(path: string): SecretFile {
  if (typeof path !== "string" || path === "") {
    throw new SignalboxError(
      "option_invalid",
      "secretFile was given no path.",
      'Pass one, such as "signals.secret".',
    );
  }
  const file = resolve(path);
  let known: readonly string[] = [];
  /** The file's `stat` when it was read; null when there was no file. */
  let readState: Stats | null = null;
  let lock = secretLockOf(file);
  let hasWarned = false;

  function read(): void {
    // Without O_NONBLOCK, opening a pipe that has no writer would block.
    const descriptor = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      const stat = fstatSync(descriptor);
      if (!stat.isFile()) throw new Error("not a regular file");
      if (stat.size > MAX_SECRET_FILE_BYTES)
        throw new Error(`more than ${MAX_SECRET_FILE_BYTES} bytes`);
      const secrets = secretLines(readFileSync(descriptor, "utf8"));
      // Unchanged secrets stay the same array, which callers can compare fast.
      if (!isSame(secrets, known)) known = secrets;
      readState = stat;
    } finally {
      closeSync(descriptor);
    }
    lock = secretLockOf(realpathSync(file));
    if (hasWarned || process.platform === "win32" || (readState.mode & 0o007) === 0) return;
    hasWarned = true;
    // A warning, not an error: Docker and Kubernetes mount secrets with this mode by default.
    process.emitWarning(
      `Other users of this machine can use the secret file ${file}: run \`chmod o= ${file}\`.`,
      {
        code: "SIGNALBOX_SECRET_FILE_OPEN",
      },
    );
  }

  function clear(): void {
    known = [];
    readState = null;
  }

  return {
    place: `the file ${file}`,
    lookUp() {
      try {
        const stat = statSync(file, { throwIfNoEntry: false });
        if (stat === undefined) clear();
        else if (!isAsRead(stat, readState)) read();
      } catch (error) {
        clear();
        const { code, message } = error as NodeJS.ErrnoException;
        if (code === "ENOENT") return known;
        const problem = `The secret file ${file} cannot be read (${code ?? message}).`;
        const help = "Make it a regular file that the receiver's user is allowed to read.";
        throw new SignalboxError("secret_invalid", problem, help, { cause: error });
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
 * Splits a file's text into secrets, one on each line; empty lines are skipped. Lines are not
 * trimmed and have no comments, because a secret can contain spaces and `#`. A byte order mark at
 * the start is dropped.
 */
export function secretLines(text: string): string[] {
  return text
    .replace(/^\ufeff/, "")
    .split(/\r?\n/)
    .filter((line) => line.trim() !== "");
}

/**
 * Whether a file has not changed, and a later change would change its times, which are of the
 * machine's clock.
 */
function isAsRead({ ino, size, mtimeMs, ctimeMs }: Stats, read: Stats | null): boolean {
  if (
    ino !== read?.ino ||
    size !== read.size ||
    mtimeMs !== read.mtimeMs ||
    ctimeMs !== read.ctimeMs
  )
    return false;
  return Date.now() - Math.max(mtimeMs, ctimeMs) > TIME_RESOLUTION_MS;
}
