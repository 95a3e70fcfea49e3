import { statfsSync } from "node:fs";
import type { Database } from "../../../../base/sqlite/database.js";

/** Kept free on the disk, because pruning writes before it frees space. */
export const DISK_RESERVE_BYTES = 64 * 1024 * 1024;

/** A longer WAL is truncated to this size when it restarts. */
export const MOST_WAL_BYTES = 64 * 1024 * 1024;

/** Prevents the file from filling its disk: at the limit commits fail with SQLITE_FULL. */
export function limitSize(db: Database, folder: string): void {
  const pageSize = db.pragma("page_size", { simple: true }) as number;
  const pages = db.pragma("page_count", { simple: true }) as number;
  const { bavail, bsize } = statfsSync(folder);
  const freePages = Math.floor(Math.max(0, bavail * bsize - DISK_RESERVE_BYTES) / pageSize);
  db.pragma(`max_page_count = ${Math.min(pages + freePages, 0xfffffffe)}`);
}
