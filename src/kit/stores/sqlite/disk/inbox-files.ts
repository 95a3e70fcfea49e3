import { accessSync, constants, lstatSync, readFileSync, statfsSync, type Stats } from "node:fs";
import { dirname } from "node:path";
import type { Database } from "../../../../base/sqlite/database.js";
import { codeOf, safely, SignalboxError } from "../../../../base/errors.js";
import type { WalSync } from "./wal-sync.js";

/** The inbox file, and the files that SQLite and the owner's lock find by its path. */
const SUFFIXES = ["", "-wal", "-shm", "-owner"];

/**
 * SQLite finds WAL and lock by the path of the file. If two processes open a file by different
 * paths, each has a separate WAL and lock, and they overwrite each other's pages: a test lost 300
 * of 600 acknowledged events. So a file must have one name.
 *
 * @param path without symbolic links
 * @param mounts the text of `/proc/self/mountinfo`; null on systems without it
 * @throws SignalboxError `store_unsupported`
 */
export function refuseUnguardedFiles(
  path: string,
  mounts = safely<string | null>(() => readFileSync("/proc/self/mountinfo", "utf8"), null),
): void {
  for (const suffix of SUFFIXES) {
    const name = path + suffix;
    const stats = lstatOf(name);
    if (isMountPoint(name, stats, mounts)) {
      const help =
        "Mount its folder instead, so that all processes use the same -wal, -shm and -owner files.";
      throw new SignalboxError("store_unsupported", `${name} is mounted as a single file.`, help);
    }
    if (stats?.isSymbolicLink() === true) {
      const help = "Remove the link, or replace it with the file that it points to.";
      throw new SignalboxError("store_unsupported", `${name} is a symbolic link.`, help);
    }
    if (stats?.isFile() === true && stats.nlink > 1) {
      const help =
        "Delete its other names (find -samefile lists them), or copy the file and use the copy.";
      throw new SignalboxError(
        "store_unsupported",
        `${name} has ${stats.nlink} names (hard links).`,
        help,
      );
    }
  }
}

/**
 * Refuses files that this process cannot write: SQLite would open them read-only, fail at the first
 * write, and leave a -shm with the same rights.
 *
 * @throws SignalboxError `store_failed`
 */
export function assertWritable(path: string, isOperator: boolean): void {
  for (const suffix of SUFFIXES) {
    // A tool does not open the owner's lock.
    if (isOperator && suffix === "-owner") continue;
    const name = path + suffix;
    try {
      accessSync(name, constants.W_OK);
    } catch (error) {
      const code = codeOf(error);
      if (code === "ENOENT") continue;
      if (code !== "EACCES") throw error;
      // Only -shm can be deleted without a loss: SQLite makes it again from the -wal.
      const orDelete =
        suffix === "-shm" ? ", or delete it while no process has the inbox open" : "";
      const help = `Give this user the right to write it${orDelete}.`;
      throw new SignalboxError("store_failed", `${name} cannot be written (${code}).`, help, {
        cause: error,
      });
    }
  }
}

export type FileWatch = ReturnType<typeof watchFiles>;

const WAL_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/**
 * Detects that open files were deleted, replaced, linked or truncated. Writes and syncs still
 * succeed then, but the next start does not find their data.
 */
export function watchFiles(db: Database, path: string, wal: WalSync) {
  const walName = `${path}-wal`;
  // An inbox has no -owner file before its first receiver, so a file can be missing.
  const watched = SUFFIXES.map((suffix) => ({
    name: path + suffix,
    before: lstatOf(path + suffix),
  })).filter(({ before }) => before !== undefined);
  const pageBytes = db.pragma("page_size", { simple: true }) as number;
  const frameBytes = FRAME_HEADER_BYTES + pageBytes;
  // NOOP only returns the length of the WAL. SQLite reads it from -shm, so it is correct even when
  // the WAL was truncated.
  const readEnd = db.prepare<[], { log: number }>("PRAGMA wal_checkpoint(NOOP)");
  let fileBytes = lstatOf(path)?.size ?? 0;
  let wasCut = false;
  let wasFileCut = false;

  const endOfWal = (): number => readEnd.get()?.log ?? 0;
  const isShort = (stats: Stats | undefined, end: number): boolean =>
    end > 0 && (stats?.size ?? 0) < WAL_HEADER_BYTES + end * frameBytes;

  /**
   * True when the WAL or the file has lost committed data. Then the WAL must not be copied into the
   * file.
   */
  function isWalCut(): boolean {
    return (wasCut ||= isShort(lstatOf(walName), endOfWal()));
  }

  /**
   * Whether the file has lost pages. A file that another program vacuumed is shorter too, but has
   * all its pages.
   */
  function isFileCut(bytes: number): boolean {
    const hasShrunk = bytes < fileBytes;
    fileBytes = bytes;
    const pages = db.pragma("page_count", { simple: true }) as number;
    // Pages that are not in the file yet are in the WAL, each in a frame of its own.
    return hasShrunk && pages - Math.floor(bytes / pageBytes) > endOfWal();
  }

  function cutError(): SignalboxError {
    const help = wasFileCut
      ? "Stop the receiver. The file is probably damaged: see store_corrupt."
      : "Restart the receiver, which continues with the remaining events. Then replay what the service can send again.";
    return new SignalboxError(
      "store_failed",
      `${wasFileCut ? path : walName} was truncated while the inbox was open.`,
      help,
    );
  }

  return {
    isWalCut,
    /**
     * To be called before a transaction. Takes 7 µs.
     *
     * @returns the length of the WAL in frames, for `assertWritten`
     * @throws SignalboxError `store_failed` while the files are not the same as when they were
     * opened
     */
    assertUnchanged(): number {
      if (wasCut) throw cutError();
      const end = endOfWal();
      for (const { name, before } of watched) {
        const now = sameFile(name, before);
        if (now.nlink > 1)
          throw changed(`${name} got a second name (a hard link) while the inbox was open.`);
        if (name === path && isFileCut(now.size)) {
          wasCut = wasFileCut = true;
          throw cutError();
        }
        // Checked twice, because another process may have restarted the WAL between the two calls.
        if (name === walName && isShort(now, end) && isWalCut()) throw cutError();
      }
      return end;
    },
    /**
     * To be called before a transaction is acknowledged, after its sync. If the WAL was deleted,
     * moved or truncated in the meantime, the next start does not find the transaction's frames.
     *
     * @param end the result of `assertUnchanged`
     * @throws SignalboxError `store_failed`
     */
    assertWritten(end: number): void {
      for (const { name, before } of watched) if (name === walName) sameFile(name, before);
      // NOOP gives -1 when it cannot read the WAL; nothing can be checked in that case.
      if (end <= 0 || wal.hasBytesAt(WAL_HEADER_BYTES + (end - 1) * frameBytes)) return;
      // A WAL that another process has restarted is shorter, but it was not truncated.
      wasCut ||= endOfWal() > end;
      if (wasCut) throw cutError();
    },
  };
}

/** @throws SignalboxError `store_failed` when another file or none has the name */
function sameFile(name: string, before: Stats | undefined): Stats {
  const now = lstatOf(name);
  if (now !== undefined && now.ino === before?.ino && now.dev === before.dev) return now;
  throw changed(`${name} was deleted, moved or replaced while the inbox was open.`);
}

function changed(message: string): SignalboxError {
  const help =
    "Put the file back as it was before you stop the receiver: acknowledged events that are only in the -wal are lost otherwise. " +
    "If it cannot be had back, start the receiver again: it begins a new inbox.";
  return new SignalboxError("store_failed", message, help);
}

function lstatOf(name: string): Stats | undefined {
  return lstatSync(name, { throwIfNoEntry: false });
}

function isMountPoint(name: string, stats: Stats | undefined, mounts: string | null): boolean {
  // Devices are compared only on systems without a list of mounts, because layers of a container's
  // file system can have different devices.
  if (mounts === null) return stats !== undefined && stats.dev !== lstatOf(dirname(name))?.dev;
  // The fifth field is the mount point, in which a space is written as \040.
  const escaped = name.replaceAll(
    /[ \t\n\\]/g,
    (byte) => `\\${byte.charCodeAt(0).toString(8).padStart(3, "0")}`,
  );
  return mounts.split("\n").some((line) => line.split(" ", 5)[4] === escaped);
}

// Magic numbers of statfs(2). File locks and the WAL's shared memory do not work reliably on
// these file systems, so an inbox on one is refused.
const NETWORK_FILE_SYSTEMS = new Map<number, string>([
  [0x6969, "NFS"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB"],
  [0x517b, "SMB"],
  [0x01021997, "9P"],
  [0x5346414f, "AFS"],
  [0x00c36400, "Ceph"],
  [0x0bd00bd0, "Lustre"],
]);

/** @throws SignalboxError `store_unsupported` */
export function refuseNetworkFileSystem(folder: string, type = typeOf(folder)): void {
  const name = type === undefined ? undefined : NETWORK_FILE_SYSTEMS.get(type);
  if (name === undefined) return;
  throw new SignalboxError(
    "store_unsupported",
    `${folder} is on a network file system (${name}), where SQLite's locks cannot be trusted.`,
    "Put the inbox on a local disk.",
  );
}

/** @returns undefined on other systems than Linux, whose numbers differ */
function typeOf(folder: string): number | undefined {
  return process.platform === "linux" ? statfsSync(folder).type >>> 0 : undefined;
}
