import { existsSync, statSync } from "node:fs";
import type { Command } from "#commander";
import type { OpenInbox } from "../../kit/inbox/open-inbox.js";
import type { InboxStore, ReadAgain } from "../../kit/inbox/store.js";
import type { PageInbox } from "../../page/inbox/page-inbox.js";
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

/**
 * An open inbox, with the endpoints of the command: the one of `--endpoint`, otherwise all that the
 * inbox has; of an empty inbox that of a receiver without the option.
 */
export interface CommandInbox extends PageInbox {
  store: InboxStore;
  inboxes: readonly OpenInbox[];
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
  { endpoint, ...place }: EndpointPlace & { create?: true },
  act: (inbox: CommandInbox) => Promise<Result>,
): Promise<Result> {
  const store = await storeOf(place);
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
    const [inboxes, joined] = await inboxOf(store, endpoints);
    return await act({
      ...joined,
      store,
      inboxes,
      isShared: all.length > 1,
      open,
      now: Date.now(),
    });
  } finally {
    for (const name of opened) await store.close(name);
  }
}

/** The inboxes of open endpoints, each and as one. */
export async function inboxOf(store: InboxStore, endpoints: readonly string[]) {
  const { openInbox } = await import("../../kit/inbox/open-inbox.js");
  const { joinInboxes } = await import("../../page/inbox/page-inbox.js");
  const inboxes = endpoints.map((endpoint) => openInbox(store, endpoint, readAgain));
  return [inboxes, joinInboxes(inboxes)] as const;
}

/** Reads a stored event as its sender does. */
async function readAgain(): Promise<ReadAgain> {
  const { readAgainBy } = await import("../../kit/receiver/read-stored.js");
  const { builtInSender } = await import("../../kit/senders/built-in.js");
  return readAgainBy(builtInSender);
}

function noEndpoint(name: string, all: readonly string[]): CliError {
  const near = nearMiss(name, all);
  const meant = near === undefined ? "" : `; did you mean "${echoed(near)}"?`;
  const known = all.length === 0 ? "it is empty" : `it has ${someNames(all.map(echoed))}`;
  return usageError(`the inbox has no endpoint "${echoed(name)}": ${known}${meant}`);
}

/**
 * An inbox that is there, or with `create` is made. The receiver can run at the same time. @throws
 * CliError, SignalboxError
 */
export async function storeOf({
  db,
  schema,
  create,
}: InboxPlace & { create?: true }): Promise<InboxStore> {
  assertPlace({ db, schema });
  const { postgresStore } = await import("../../kit/stores/postgres/postgres-store.js");
  const { sqliteStore } = await import("../../kit/stores/sqlite/sqlite-store.js");
  if (isDatabase(db))
    return postgresStore({ connectionString: db, schema, operator: true, create });
  if (create && !existsSync(db)) {
    const made = sqliteStore(db);
    await made.open({ endpoint: "default", clock: systemClock });
    await made.close("default");
  }
  const stats = readFrom(`the inbox ${db}`, () => statSync(db));
  // The store finds other mistakes. SQLite would take an empty file for a database.
  if (!stats.isFile() || stats.size === 0) {
    throw environmentError(`${db} is not an SQLite file: --db names the inbox of a receiver`);
  }
  return sqliteStore({ path: db, operator: true });
}

export async function noteIfEmpty(
  { store }: CommandInbox,
  terminal: Pick<Terminal, "note">,
): Promise<void> {
  const all = await store.endpoints();
  if (all.length === 0) terminal.note("the inbox is empty");
}
