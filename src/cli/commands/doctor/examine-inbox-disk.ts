import { realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { isSignalboxError } from "../../../errors.js";
import { DISK_RESERVE_BYTES, MOST_WAL_BYTES } from "../../../stores/sqlite/limit-size.js";
import { refuseNetworkFileSystem } from "../../../stores/sqlite/network-file-system.js";
import type { Subject } from "./examination.js";
import { ok, problem, warning, type Finding } from "./finding.js";
import { formatBytes } from "./format-bytes.js";
import { inOurWords } from "./in-our-words.js";

const LOW_DISK_BYTES = 2 ** 30;

// statfs(2) magic numbers of Linux.
const TMPFS = 0x01021994;
const RAMFS = 0x858458f6;
const OVERLAYFS = 0x794c7630;

export function examineInboxDisk({ db = "", surroundings }: Subject): Finding[] {
  const path = realpathSync(db);
  const folder = dirname(path);
  const { type, freeBytes } = surroundings.fileSystemOf(folder);
  const found = [...kindOfDisk(folder, process.platform === "linux" ? type : undefined), ...room(folder, freeBytes)];
  const log = walOf(path);
  return found.length === 0
    ? [ok("inbox_disk", `${formatBytes(freeBytes)} free on its disk`), ...log]
    : [...found, ...log];
}

function* kindOfDisk(folder: string, type: number | undefined): Generator<Finding> {
  try {
    refuseNetworkFileSystem(folder, type);
  } catch (error) {
    if (!isSignalboxError(error)) throw error;
    yield inOurWords("inbox_on_network", error);
  }
  if (type === TMPFS || type === RAMFS) {
    const mend = "Put the inbox on a disk: whatever was acknowledged and not handed off is gone with the next reboot.";
    yield warning("inbox_in_memory", `${folder} is a file system in memory`, mend);
  }
  if (type === OVERLAYFS) {
    const mend = "Put the inbox on a volume: a container that is made anew begins with an empty one.";
    yield warning("inbox_in_container", `${folder} is in a container's own layer`, mend);
  }
}

function* room(folder: string, freeBytes: number): Generator<Finding> {
  const free = `${formatBytes(freeBytes)} free on the disk of ${folder}`;
  if (freeBytes < DISK_RESERVE_BYTES) {
    const mend =
      "Free disk space: below 64 MiB the inbox does not grow any more, and deliveries get 503 (store_unavailable).";
    yield problem("disk_full", free, mend);
  } else if (freeBytes < LOW_DISK_BYTES) {
    yield warning("disk_low", free, "Free disk space. An event takes its body and about 1 KiB more.");
  }
}

function walOf(path: string): Finding[] {
  const bytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (bytes <= MOST_WAL_BYTES) return [];
  const mend =
    "Look for what reads the inbox for long (a backup, an open sqlite3 shell); if nothing does, restart the receiver.";
  return [warning("wal_large", `its write-ahead log has ${formatBytes(bytes)}; about 8 MiB is usual`, mend)];
}
