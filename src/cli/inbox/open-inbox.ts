import { statSync } from "node:fs";
import type { Command } from "#commander";
import type { InboxStore } from "../../inbox/store.js";
import type { InboxEntry, ListQuery } from "../../inbox/stored-events.js";
import { systemClock } from "../../time/clock.js";
import { assertPlace, isDatabase, SCHEMA, type InboxPlace } from "./inbox-place.js";
import type { OptionsOf } from "../options/define-command.js";
import { environmentError } from "../options/exit.js";
import { notEmpty } from "../options/parse-option.js";
import { readFrom } from "../options/read-input.js";
import { echoed } from "../console/printable.js";
import type { Terminal } from "../console/terminal.js";

/** An open inbox, with the endpoint of the command. */
export interface OpenInbox {
  store: InboxStore;
  endpoint: string;
  now: number;
}

export function addPlaceOptions(command: Command) {
  return command
    .requiredOption("--db <inbox>", "the inbox: its SQLite file, or the URL of its PostgreSQL database", notEmpty)
    .addOption(SCHEMA)
    .option("--json", "print NDJSON");
}

export function addInboxOptions(command: Command) {
  return addPlaceOptions(command).option("--endpoint <name>", "the receiver's endpoint", notEmpty, "default");
}

export type InboxOptions = OptionsOf<typeof addInboxOptions>;

/** The receiver can run at the same time. Close the store afterwards. */
export async function openInbox(options: InboxPlace & { endpoint: string }): Promise<OpenInbox> {
  const { endpoint } = options;
  const store = await storeOf(options);
  const now = Date.now();
  await store.open({ endpoint, clock: systemClock });
  return { store, endpoint, now };
}

/** Opens the inbox, calls `act` and closes the inbox. @throws as {@link openInbox} */
export async function withInbox<Result>(
  options: InboxPlace & { endpoint: string },
  act: (inbox: OpenInbox) => Promise<Result>,
): Promise<Result> {
  const inbox = await openInbox(options);
  try {
    return await act(inbox);
  } finally {
    await inbox.store.close(inbox.endpoint);
  }
}

async function storeOf({ db, schema }: InboxPlace): Promise<InboxStore> {
  assertPlace({ db, schema });
  const { postgresStore } = await import("../../stores/postgres/postgres-store.js");
  const { sqliteStore } = await import("../../stores/sqlite/sqlite-store.js");
  if (isDatabase(db)) return postgresStore({ connectionString: db, schema, operator: true });
  const stats = readFrom(`the inbox ${db}`, () => statSync(db));
  // The store finds other mistakes. SQLite would take an empty file for a database.
  if (!stats.isFile() || stats.size === 0) {
    throw environmentError(`${db} is not an SQLite file: --db names the inbox of a receiver`);
  }
  return sqliteStore({ path: db, operator: true });
}

/** The number of entries that are read at a time, because an inbox can be larger than memory. */
const PAGE = 500;

/** All entries of the endpoint that match, page by page. */
export async function* listPages(
  { store, endpoint }: OpenInbox,
  { state, type, afterSeq = 0 }: Omit<ListQuery, "endpoint" | "limit">,
): AsyncGenerator<InboxEntry[]> {
  for (;;) {
    const page = await store.list({ endpoint, state, type, afterSeq, limit: PAGE });
    if (page.length > 0) yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    afterSeq = last.seq;
  }
}

/** If this endpoint has no events, notes whether another endpoint has some: the user may have forgotten --endpoint. */
export async function noteOtherEndpoint({ store, endpoint }: OpenInbox, terminal: Terminal): Promise<void> {
  const [own] = await store.list({ endpoint, limit: 1 });
  if (own !== undefined) return;
  const [other] = await store.list({ limit: 1 });
  const hint =
    other === undefined ? "it is empty" : `it has events of endpoint "${echoed(other.endpoint)}": give --endpoint`;
  terminal.note(`the inbox has no events of endpoint "${echoed(endpoint)}"; ${hint}`);
}
