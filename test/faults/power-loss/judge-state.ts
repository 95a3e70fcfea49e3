import { createHash } from "node:crypto";
import {
  closeSync,
  constants,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { codeOf } from "../../../src/base/errors.js";
import { openSqlite } from "../../open-sqlite.js";
import type { Database } from "../../../src/base/sqlite/database.js";
import type { Ledger } from "./ledger.js";
import { INBOX } from "./recorder.js";

/** What is not as it was promised. */
export interface Damage {
  /** Acknowledged, and not there with the body that was sent. */
  lost: string[];
  /** Reported as handed off, and about to be handed off again. */
  forgotten: string[];
  /** The callback began, and would begin again without the flag of a possible repeat. */
  unflagged: string[];
  /** What SQLite says of the file. */
  corrupt: string | null;
}

interface StateRow {
  event_id: string;
  state: string;
  possibly_repeated: number;
  body: Buffer | null;
}

export function isSound({ lost, forgotten, unflagged, corrupt }: Damage): boolean {
  return lost.length + forgotten.length + unflagged.length === 0 && corrupt === null;
}

/**
 * Writes the files of a state into a folder; what else is there is of an earlier state, and goes.
 */
export function writeState(folder: string, files: ReadonlyMap<string, Buffer>): void {
  const inboxFolder = join(folder, dirname(INBOX));
  mkdirSync(inboxFolder, { recursive: true });
  const kept = new Set([...files.keys()].filter(isOfInbox));
  for (const name of readdirSync(inboxFolder)) {
    if (!kept.has(join(dirname(INBOX), name))) rmSync(join(inboxFolder, name));
  }
  for (const name of kept) overwrite(join(folder, name), files.get(name) ?? Buffer.alloc(0));
}

/** In place: to give all its memory back first takes longer than to write. */
function overwrite(path: string, bytes: Buffer): void {
  const descriptor = openSync(path, constants.O_RDWR | constants.O_CREAT);
  writeSync(descriptor, bytes, 0, bytes.length, 0);
  ftruncateSync(descriptor, bytes.length);
  closeSync(descriptor);
}

/** The -shm is no file of the disk: the first process that opens the inbox makes it anew. */
export function isOfInbox(name: string): boolean {
  return name.startsWith(INBOX) && !name.endsWith("-shm") && !name.endsWith("-owner");
}

/** Bodies whose hash was right, so that a body is hashed once and compared from then on. */
const rightBodies = new Map<string, Buffer>();

function isRight(body: Buffer | null, hash: string): boolean {
  if (body === null) return false;
  if (rightBodies.get(hash)?.equals(body) === true) return true;
  if (createHash("sha256").update(body).digest("hex") !== hash) return false;
  rightBodies.set(hash, body);
  return true;
}

/** Opens what is in the folder with SQLite alone, and holds it against what was said. */
export function judgeState(folder: string, ledger: Ledger): Damage {
  const path = join(folder, INBOX);
  if (!existsSync(path)) return damageOf([], ledger);
  let db: Database | undefined;
  try {
    // Not written to unless it must be: closing a file that may be written would copy the WAL into
    // it.
    db = openSqlite(path, { readonly: !existsSync(`${path}-journal`), timeout: 0 });
    const verdict = db.pragma("quick_check(1)", { simple: true }) as string;
    if (verdict !== "ok") return { ...damageOf([], ledger), corrupt: verdict };
    const isMade =
      db.prepare("SELECT count(*) FROM sqlite_schema WHERE name = 'inbox_body'").pluck().get() ===
      1;
    if (!isMade) return damageOf([], ledger);
    const rows = db
      .prepare<[], StateRow>(
        "SELECT event_id, state, possibly_repeated, body FROM inbox LEFT JOIN inbox_body USING (seq)",
      )
      .all();
    return damageOf(rows, ledger);
  } catch (error) {
    if (!codeOf(error).startsWith("SQLITE_")) throw error;
    return { ...damageOf([], ledger), corrupt: `${codeOf(error)}: ${(error as Error).message}` };
  } finally {
    db?.close();
  }
}

function damageOf(rows: readonly StateRow[], { acknowledged, begun, handedOff }: Ledger): Damage {
  const found = new Map(rows.map((row) => [row.event_id, row]));
  return {
    lost: [...acknowledged].flatMap(([id, hash]) =>
      isRight(found.get(id)?.body ?? null, hash) ? [] : [id],
    ),
    forgotten: [...handedOff].filter((id) => found.get(id)?.state !== "done"),
    // The next start takes over leased events, and flags them.
    unflagged: [...begun].filter((id) => {
      const row = found.get(id);
      return row === undefined || (row.state === "ready" && row.possibly_repeated === 0);
    }),
    corrupt: null,
  };
}
