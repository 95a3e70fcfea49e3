import { codeOf, isSignalboxError, SignalboxError } from "../../../base/errors.js";

/** True when another process has the lock, so that a retry can succeed. */
export function isBusy(error: unknown): boolean {
  return codeOf(error).startsWith("SQLITE_BUSY");
}

const FULL = new Set(["SQLITE_FULL", "SQLITE_IOERR_SHMSIZE", "ENOSPC"]);

/** True when the disk is full, or the file has reached its limit. */
export function isFull(error: unknown): boolean {
  return FULL.has(codeOf(error));
}

export function damagedError(path: string, found: string, cause?: unknown): SignalboxError {
  const help =
    "Move the file away. Then restore a backup, or start with a new file and replay what the service can send again.";
  return new SignalboxError("store_corrupt", `The inbox ${path} is damaged (${found}).`, help, {
    cause,
  });
}

/** Converts an error of the driver or the file system. */
export function storeError(error: unknown, path: string): SignalboxError {
  if (isSignalboxError(error)) return error;
  const code = codeOf(error);
  const isValueError = error instanceof RangeError || error instanceof TypeError;
  if (isValueError || /^SQLITE_(CONSTRAINT|TOOBIG|MISMATCH|RANGE)/.test(code)) {
    const message = `The inbox ${path} refused a row (${code || "value"}).`;
    return new SignalboxError("store_row_refused", message, "", { cause: error });
  }
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code)) return damagedError(path, code, error);
  const help = isBusy(error)
    ? `Another program holds a lock on ${path} (an sqlite3 shell, a backup). End its transaction; the receiver then continues.`
    : isFull(error)
      ? "Free disk space: 64 MiB of it are kept in reserve. Until then the receiver answers 503; afterwards it continues without a restart."
      : "Check the disk, the folder's permissions, and that the file system is not mounted read-only.";
  return new SignalboxError(
    "store_failed",
    `The inbox ${path} failed (${code || "unknown error"}).`,
    help,
    {
      cause: error,
    },
  );
}
