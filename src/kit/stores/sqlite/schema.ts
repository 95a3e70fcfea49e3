import type { Database } from "../../../base/sqlite/database.js";
import { SignalboxError } from "../../../base/errors.js";
import { DROP_UNUSED, MIGRATIONS } from "./tables.js";

/** Marks a file as an inbox ("sgbx"). */
const APPLICATION_ID = 0x73676278;

function versionOf(db: Database): number {
  return db.pragma("user_version", { simple: true }) as number;
}

/** Writes to the file without changing its content. */
export function writeNothing(db: Database): void {
  db.pragma(`user_version = ${versionOf(db)}`);
}

/**
 * To be called before anything is written, because another program's database must not be changed.
 *
 * @param canMake whether an empty or older file will be migrated
 * @throws SignalboxError `store_newer`, `store_unsupported`
 */
export function assertInbox(db: Database, path: string, canMake: boolean): void {
  // In one transaction, because another process may be making the file now.
  const [isOurs, isEmpty] = db.transaction(() => [
    db.pragma("application_id", { simple: true }) === APPLICATION_ID,
    db.prepare("SELECT count(*) FROM sqlite_schema").pluck().get() === 0,
  ])();
  if (!isOurs && !(isEmpty && canMake)) {
    const help = canMake
      ? "Pass the path of another file."
      : "Pass the path that the receiver uses.";
    throw new SignalboxError("store_unsupported", `${path} is not an inbox of signalbox.`, help);
  }
  const version = versionOf(db);
  if (version > MIGRATIONS.length) {
    throw new SignalboxError(
      "store_newer",
      `${path} was written by a newer signalbox (schema ${version}, this one knows ${MIGRATIONS.length}).`,
      "Upgrade this installation, or restore the file from before the upgrade.",
    );
  }
  if (version < MIGRATIONS.length && !canMake) {
    const help = "Start its receiver once with this version of signalbox, which migrates the file.";
    throw new SignalboxError(
      "store_unsupported",
      `${path} was written by an older signalbox.`,
      help,
    );
  }
}

/**
 * Applies the missing migrations to an inbox that {@link assertInbox} accepted.
 *
 * @param isAlone whether no other process has it open to hand off
 */
export function migrate(db: Database, isAlone: boolean): void {
  // A current file is not written to, because it may be damaged, which is checked later.
  if (versionOf(db) !== MIGRATIONS.length) {
    db.transaction(() => {
      for (const migration of MIGRATIONS.slice(versionOf(db))) db.exec(migration);
      db.pragma(`application_id = ${APPLICATION_ID}`);
      db.pragma(`user_version = ${MIGRATIONS.length}`);
    }).immediate();
  }
  if (isAlone) db.exec(DROP_UNUSED);
}
