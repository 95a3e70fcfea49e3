import { statSync } from "node:fs";
import type { Command } from "#commander";
import type { InboxStore } from "../../kit/inbox/store.js";
import type { InboxEntry, ListQuery } from "../../kit/inbox/stored-events.js";
import { systemClock } from "../../base/time/clock.js";
import { nearMiss } from "../../base/options/near-miss.js";
import {
  assertPlace,
  ENDPOINT,
  isDatabase,
  SCHEMA,
  type EndpointPlace,
  type InboxPlace,
} from "./inbox-place.js";
import type { OptionsOf } from "../console/define-command.js";
import { environmentError, usageError, type CliError } from "../console/exit.js";
import { notEmpty } from "../console/parse-option.js";
import { readFrom } from "../console/read-input.js";
import { echoed, someNames } from "../console/printable.js";
import type { Terminal } from "../console/terminal.js";

/** An open inbox, with the endpoints of the command. */
export interface OpenInbox {
  store: InboxStore;
  /**
   * The one of `--endpoint`, otherwise all that the inbox has; of an empty inbox that of a receiver
   * without the option.
   */
  endpoints: readonly string[];
  /** Whether the inbox has others, or several, so that a command has to name its endpoint. */
  isShared: boolean;
  /** Opens an endpoint that the inbox may not have yet. */
  open: (endpoint: string) => Promise<void>;
  now: number;
}

export function addPlaceOptions(command: Command) {
  return command
    .requiredOption(
      "--db <inbox>",
      "the inbox: its SQLite file, or the URL of its PostgreSQL database",
      notEmpty,
    )
    .addOption(SCHEMA)
    .option("--json", "print NDJSON");
}

export function addInboxOptions(command: Command) {
  return addPlaceOptions(command).addOption(ENDPOINT);
}

export type InboxOptions = OptionsOf<typeof addPlaceOptions> & EndpointPlace;

/**
 * Opens the inbox, calls `act` and closes the inbox. The receiver can run at the same time. @throws
 * CliError when it has no such endpoint
 */
export async function withInbox<Result>(
  { endpoint, ...place }: EndpointPlace,
  act: (inbox: OpenInbox) => Promise<Result>,
): Promise<Result> {
  const store = await storeOf(place);
  const now = Date.now();
  const opened: string[] = [];
  const open = async (name: string): Promise<void> => {
    if (opened.includes(name)) return;
    await store.open({ endpoint: name, clock: systemClock });
    opened.push(name);
  };
  try {
    await open(endpoint ?? "default");
    const all = await store.endpoints();
    if (endpoint !== undefined && !all.includes(endpoint)) throw noEndpoint(endpoint, all);
    for (const name of all) await open(name);
    const endpoints = endpoint === undefined && all.length > 0 ? all : opened.slice(0, 1);
    return await act({ store, endpoints, isShared: all.length > 1, open, now });
  } finally {
    for (const name of opened) await store.close(name);
  }
}

function noEndpoint(name: string, all: readonly string[]): CliError {
  const near = nearMiss(name, all);
  const meant = near === undefined ? "" : `; did you mean "${echoed(near)}"?`;
  const known = all.length === 0 ? "it is empty" : `it has ${someNames(all.map(echoed))}`;
  return usageError(`the inbox has no endpoint "${echoed(name)}": ${known}${meant}`);
}

/**
 * An inbox that is there. The receiver can run at the same time. @throws CliError, SignalboxError
 */
export async function storeOf({ db, schema }: InboxPlace): Promise<InboxStore> {
  assertPlace({ db, schema });
  const { postgresStore } = await import("../../kit/stores/postgres/postgres-store.js");
  const { sqliteStore } = await import("../../kit/stores/sqlite/sqlite-store.js");
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

/** All entries of an endpoint that match, page by page. */
export async function* listPages(
  store: InboxStore,
  { afterSeq = 0, ...query }: Pick<ListQuery, "endpoint" | "state" | "afterSeq">,
): AsyncGenerator<InboxEntry[]> {
  for (;;) {
    const page = await store.list({ ...query, afterSeq, limit: PAGE });
    if (page.length > 0) yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    afterSeq = last.seq;
  }
}

export async function noteIfEmpty({ store }: OpenInbox, terminal: Terminal): Promise<void> {
  const all = await store.endpoints();
  if (all.length === 0) terminal.note("the inbox is empty");
}
