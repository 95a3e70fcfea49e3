import { statSync } from "node:fs";
import type { Command } from "commander";
import type { EventState, InboxEntry, InboxStore } from "../../../inbox/store.js";
import { isSqliteFile } from "../../../sqlite/is-sqlite-file.js";
import { sqliteStore } from "../../../stores/sqlite/sqlite-store.js";
import { environmentError } from "../../options/exit.js";
import { notBlank } from "../../options/parse-option.js";
import { echoed } from "../../console/printable.js";
import type { Terminal } from "../../console/terminal.js";

export interface InboxOptions {
  db: string;
  endpoint: string;
  json?: true;
}

/** An inbox's file, open for one endpoint. */
export interface OpenInbox {
  store: InboxStore;
  endpoint: string;
  now: number;
}

export function addInboxOptions(command: Command): Command {
  return command
    .requiredOption("--db <file>", "the inbox's SQLite file", notBlank)
    .option("--endpoint <name>", "the receiver's endpoint", notBlank, "default")
    .option("--json", "print NDJSON");
}

/**
 * Opens the inbox, also while its receiver runs, and closes it in any case.
 *
 * @throws CliError when there is no such file; SignalboxError `store_…`
 */
export async function withInbox<Result>(
  { db, endpoint }: InboxOptions,
  act: (inbox: OpenInbox) => Promise<Result>,
): Promise<Result> {
  const found = statSync(db, { throwIfNoEntry: false });
  if (found === undefined) throw environmentError(`there is no inbox ${db}: --db names the SQLite file of a receiver`);
  if (!found.isFile()) throw environmentError(`${db} is no file: --db names the SQLite file of a receiver`);
  // The store would report a damaged file, and would make an inbox of an empty one.
  if (!isSqliteFile(db)) throw environmentError(`${db} is no SQLite file: --db names the inbox of a receiver`);
  const store = sqliteStore({ path: db, operator: true });
  const now = Date.now();
  await store.open({ endpoint });
  try {
    return await act({ store, endpoint, now });
  } finally {
    await store.close(endpoint);
  }
}

/** How many entries are read at once: an inbox may be larger than memory. */
const PAGE = 500;

/** All entries of the endpoint, page by page. */
export async function* listPages(
  { store, endpoint }: OpenInbox,
  { state }: { state?: EventState | undefined },
): AsyncGenerator<InboxEntry[]> {
  let afterSeq = 0;
  for (;;) {
    const page = await store.list({ endpoint, ...(state && { state }), afterSeq, limit: PAGE });
    if (page.length > 0) yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    afterSeq = last.seq;
  }
}

/** Notes that the events are under another endpoint, if this one has none. */
export async function noteOtherEndpoint({ store, endpoint }: OpenInbox, terminal: Terminal): Promise<void> {
  const [own] = await store.list({ endpoint, limit: 1 });
  if (own !== undefined) return;
  const [other] = await store.list({ limit: 1 });
  const hint =
    other === undefined ? "the inbox is empty" : `there are some of "${echoed(other.endpoint)}": give --endpoint`;
  terminal.note(`no events of endpoint "${echoed(endpoint)}"; ${hint}`);
}
