import { isSignalboxError, SignalboxError } from "../../errors.js";
import { missingBinaryError } from "../../sqlite/sqlite-driver.js";

/** @returns the code of an error of SQLite or the file system; empty for others */
export function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "";
}

/** Another process has the lock; trying again helps. */
export function isBusy(error: unknown): boolean {
  return codeOf(error).startsWith("SQLITE_BUSY");
}

const FULL = new Set(["SQLITE_FULL", "SQLITE_IOERR_SHMSIZE", "ENOSPC"]);

/** The disk is full, or the file has reached its limit. */
export function isFull(error: unknown): boolean {
  return FULL.has(codeOf(error));
}

export function damagedError(path: string, found: string, cause?: unknown): SignalboxError {
  const help =
    "Move the file away and restore a backup, or start with a new file and replay what the service can send again.";
  return new SignalboxError("store_corrupt", `The inbox ${path} is damaged (${found}).`, help, { cause });
}

/** A sync failed inside SQLite: the kernel may have dropped pages that it should have written. */
export function isFailedSync(error: unknown): boolean {
  return codeOf(error) === "SQLITE_IOERR_FSYNC";
}

/** Makes a SignalboxError of an error of better-sqlite3 or the file system. */
export function storeError(error: unknown, path: string): SignalboxError {
  if (isSignalboxError(error)) return error;
  const code = codeOf(error);
  const because = { cause: error };
  const withoutBinary = missingBinaryError(error);
  if (withoutBinary !== undefined) return withoutBinary;
  if (
    /^SQLITE_(CONSTRAINT|TOOBIG|MISMATCH|RANGE)/.test(code) ||
    error instanceof RangeError ||
    error instanceof TypeError
  ) {
    return new SignalboxError(
      "store_row_refused",
      `The inbox ${path} refused a row (${code || "value"}).`,
      "",
      because,
    );
  }
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code)) {
    return damagedError(path, code, error);
  }
  const help = isFull(error)
    ? "Free disk space; the receiver answers 503 until then and goes on by itself."
    : "Check the disk, the folder's permissions and that the file is not mounted read-only.";
  return new SignalboxError("store_failed", `The inbox ${path} failed (${code || "unknown error"}).`, help, because);
}
