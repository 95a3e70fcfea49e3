import { lstatSync, readFileSync, type Stats } from "node:fs";
import { dirname } from "node:path";
import type { Database } from "better-sqlite3";
import { SignalboxError } from "../../errors.js";
import type { WalSync } from "./wal-sync.js";

/** The inbox, and the files that SQLite and the owner's lock find beside it by its path. */
const SUFFIXES = ["", "-wal", "-shm", "-owner"];

/**
 * SQLite finds WAL and lock by the path of the file. Two processes that open one file by two paths have a WAL and a lock
 * each, and overwrite each other's pages: of 600 acknowledged events 300 were lost. So each file must have one name.
 *
 * @param path without symbolic links
 * @param mounts the text of `/proc/self/mountinfo`; null where there is none
 * @throws SignalboxError `store_unsupported`
 */
export function refuseUnguardedFiles(path: string, mounts: string | null = readMounts()): void {
  for (const suffix of SUFFIXES) {
    const name = path + suffix;
    const stats = lstatOf(name);
    if (isMountPoint(name, stats, mounts)) {
      const help =
        "Mount its folder instead, so that every process finds the same -wal, -shm and -owner beside the inbox.";
      throw new SignalboxError("store_unsupported", `${name} is mounted as a single file.`, help);
    }
    if (stats?.isSymbolicLink() === true) {
      const help = "Remove the link, or put the file that it leads to in its place.";
      throw new SignalboxError("store_unsupported", `${name} is a symbolic link.`, help);
    }
    if (stats?.isFile() === true && stats.nlink > 1) {
      const help = "Delete its other names (find -samefile lists them), or copy the file and use the copy.";
      throw new SignalboxError("store_unsupported", `${name} has ${stats.nlink} names (hard links).`, help);
    }
  }
}

export interface FileWatch {
  /**
   * To be called before a transaction. Transactions that share a sync share one check of the files, which takes 7 µs.
   *
   * @returns for {@link assertWritten}: where the WAL ends, in frames
   * @throws SignalboxError `store_failed` as long as the files are not as they were
   */
  assertUnchanged(): number;
  /**
   * To be called before a transaction is acknowledged. If the WAL was cut while it was written, what it wrote stands
   * behind a hole, where no start finds it.
   *
   * @param end what {@link assertUnchanged} gave
   * @throws SignalboxError `store_failed`
   */
  assertWritten(end: number): void;
  /** The WAL, or the file, has lost what was committed. So the WAL must not be copied into the file. */
  isWalCut(): boolean;
}

const WAL_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/**
 * Files that are open can be deleted, replaced, linked or cut under us. Writes and syncs still succeed then, but the
 * next start does not find what they wrote.
 */
export function watchFiles(db: Database, path: string, wal: WalSync): FileWatch {
  const walName = `${path}-wal`;
  // A tool's inbox has no -owner before its first receiver.
  const watched = SUFFIXES.map((suffix) => ({ name: path + suffix, before: lstatOf(path + suffix) })).filter(
    ({ before }) => before !== undefined,
  );
  const pageBytes = db.pragma("page_size", { simple: true }) as number;
  const frameBytes = FRAME_HEADER_BYTES + pageBytes;
  // NOOP only tells where the WAL ends. It reads that in -shm, so it is right also when the WAL was cut.
  const readEnd = db.prepare<[], { log: number }>("PRAGMA wal_checkpoint(NOOP)");
  let fileBytes = lstatOf(path)?.size ?? 0;
  let wasCut = false;
  /** The sync that was the last to begin when the files were checked. */
  let checkedAt = -1;

  const endOfWal = (): number => readEnd.get()?.log ?? 0;
  const isShort = (stats: Stats | undefined, end: number): boolean =>
    end > 0 && (stats?.size ?? 0) < WAL_HEADER_BYTES + end * frameBytes;

  function isWalCut(): boolean {
    return (wasCut ||= isShort(lstatOf(walName), endOfWal()));
  }

  /** A file that another program vacuumed is shorter too, and has all its pages. */
  function isFileCut(bytes: number): boolean {
    const hasShrunk = bytes < fileBytes;
    fileBytes = bytes;
    return hasShrunk && bytes < (db.pragma("page_count", { simple: true }) as number) * pageBytes;
  }

  function cutError(name = walName): SignalboxError {
    const help = "Restart the receiver: it goes on with what is left. Then replay what the service can send again.";
    return new SignalboxError("store_failed", `${name} was cut short while the inbox was open.`, help);
  }

  return {
    isWalCut,
    assertUnchanged() {
      if (wasCut) throw cutError();
      const end = endOfWal();
      if (checkedAt === wal.begun()) return end;
      for (const { name, before } of watched) {
        const now = lstatOf(name);
        if (now === undefined || now.ino !== before?.ino || now.dev !== before.dev) {
          throw changed(`${name} was deleted, moved or replaced while the inbox was open.`);
        }
        if (now.nlink > 1) throw changed(`${name} got a second name (a hard link) while the inbox was open.`);
        if (name === path && isFileCut(now.size)) {
          wasCut = true;
          throw cutError(name);
        }
        // Asked twice: another process may have begun the WAL anew between the two calls.
        if (name === walName && isShort(now, end) && isWalCut()) throw cutError();
      }
      checkedAt = wal.begun();
      return end;
    },
    assertWritten(end) {
      if (end === 0 || wal.hasBytesAt(WAL_HEADER_BYTES + (end - 1) * frameBytes)) return;
      // Not so when another process emptied the WAL and began it anew.
      wasCut ||= endOfWal() > end;
      if (wasCut) throw cutError();
    },
  };
}

function changed(message: string): SignalboxError {
  const help = "Put the inbox's files back as they were, or restart the receiver with the file that it should use.";
  return new SignalboxError("store_failed", message, help);
}

function lstatOf(name: string): Stats | undefined {
  return lstatSync(name, { throwIfNoEntry: false });
}

function readMounts(): string | null {
  try {
    return readFileSync("/proc/self/mountinfo", "utf8");
  } catch {
    return null;
  }
}

function isMountPoint(name: string, stats: Stats | undefined, mounts: string | null): boolean {
  // Only where there is no list of mounts: the layers of a container's file system may have devices of their own.
  if (mounts === null) return stats !== undefined && stats.dev !== lstatOf(dirname(name))?.dev;
  // The fifth field, where a blank is \040.
  const escaped = name.replaceAll(/[ \t\n\\]/g, (byte) => `\\${byte.charCodeAt(0).toString(8).padStart(3, "0")}`);
  return mounts.split("\n").some((line) => line.split(" ", 5)[4] === escaped);
}
