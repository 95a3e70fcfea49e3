import { existsSync, realpathSync, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { Option, type Command } from "#commander";
import { isSignalboxError } from "../../base/errors.js";
import { nearMiss } from "../../base/options/option-error.js";
import { systemClock } from "../../base/time/clock.js";
import type { OpenInbox } from "../../kit/inbox/open-inbox.js";
import type { InboxStore, ReadAgain } from "../../kit/inbox/store.js";
import { DISK_RESERVE_BYTES } from "../../kit/stores/sqlite/disk/limit-size.js";
import type { createPageHandler } from "../../page/inbox/page-handler.js";
import type { PageInbox } from "../../page/inbox/page-inbox.js";
import type { Cli } from "../console/cli.js";
import { runs, type CommandContext, type OptionsOf } from "../console/define-command.js";
import {
  usageError,
  environmentError,
  errorCode,
  type CliError,
  type ExitCode,
} from "../console/exit.js";
import { notEmpty, readFrom } from "../console/options.js";
import { printable, shellQuote, echoed, someNames, type Terminal } from "../console/terminal.js";

/** The options of a command that takes an inbox in a file or in a database. */
export interface InboxPlace {
  db: string;
  schema?: string | undefined;
}

export interface EndpointPlace extends InboxPlace {
  /** @default all */
  endpoint?: string | undefined;
}

/** Where the starters keep their inbox. */
export const DEFAULT_INBOX = "signals.db";

export const SCHEMA = new Option(
  "--schema <name>",
  "the schema of an inbox in PostgreSQL (default: signalbox)",
).argParser(notEmpty);

export const ENDPOINT = new Option(
  "--endpoint <name>",
  "only this endpoint of the inbox (default: all)",
).argParser(notEmpty);

/**
 * A command for this inbox that a person can copy, such as `inbox failures`. It has no password.
 */
export function inboxCommand(words: string, options: Partial<EndpointPlace>): string {
  const { db = "", schema, endpoint } = options;
  const quoted = Object.entries({ db, schema, endpoint }).flatMap(([name, value = ""]) =>
    value === ""
      ? []
      : `--${name} ${name === "db" && isSecret(db) ? '"$DATABASE_URL"' : shellQuote(value)}`,
  );
  return printable(["npx signalbox", words, ...quoted].join(" "));
}

/** No message may contain such an address. */
function isSecret(db: string): boolean {
  return (
    isDatabase(db) &&
    // As URL does not: a password can have a slash.
    (!URL.canParse(db) || /password/i.test(db) || /:.*@/.test(db.slice(db.indexOf("://") + 3)))
  );
}

/** A database by its host and name. Behind another `@`, those could be a part of the password. */
function withoutSecret(db: string): string {
  if (!URL.canParse(db)) return "SIGNALBOX_DB";
  const { host, pathname, search, hash } = new URL(db);
  const isKnown = !`${pathname}${search}${hash}`.includes("@");
  return isKnown ? `SIGNALBOX_DB @${host}${pathname}` : "SIGNALBOX_DB";
}

/**
 * The inbox of `--db`, otherwise of SIGNALBOX_DB, otherwise `signals.db` if it is in this folder. A
 * note names one that was not given.
 */
export function findInbox(
  given: string | undefined,
  { env, terminal }: Pick<Cli, "env" | "terminal">,
): string | undefined {
  if (given !== undefined) return given;
  const named = env["SIGNALBOX_DB"] || undefined;
  const db = named ?? (existsSync(DEFAULT_INBOX) ? DEFAULT_INBOX : undefined);
  if (db !== undefined)
    terminal.note(
      terminal.notePaint.dim(`inbox: ${printable(isSecret(db) ? withoutSecret(db) : db)}`),
    );
  return db;
}

export const NO_INBOX = `no inbox: there is no ${DEFAULT_INBOX} here; give --db FILE or --db postgres://…, or set SIGNALBOX_DB`;

/** @throws CliError when no inbox was given, and none is found */
export function placeOf<Options extends Partial<EndpointPlace>>(
  options: Options,
  cli: Pick<Cli, "env" | "terminal">,
): Options & EndpointPlace {
  const db = findInbox(options.db, cli);
  if (db !== undefined) return { ...options, db };
  throw usageError(NO_INBOX);
}

/** The connection string has a password, so no message may contain it. */
export function isDatabase(db: string): boolean {
  return /^postgres(ql)?:\/\//i.test(db);
}

/** The folder whose disk is too full for an inbox; otherwise null. */
export function fullDiskOf(db: string): string | null {
  if (isDatabase(db)) return null;
  const folder = dirname(realpathSync(db));
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize < DISK_RESERVE_BYTES ? folder : null;
}

/** @throws CliError when `db` is neither a file nor a database, or `schema` was given for a file */
export function assertPlace({ db, schema }: InboxPlace): void {
  if (isDatabase(db)) return;
  if (schema !== undefined) throw usageError("--schema needs a database: --db postgres://…");
  // It may have a password, so it is not repeated as the name of a file.
  if (/^postgres\w*:|:\/\/|password\s*=|^[^:]{2,}:.*@/i.test(db) && !existsSync(db))
    throw usageError("--db is no file and does not begin with postgres://");
}

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

export const DB = new Option(
  "--db <inbox>",
  `the inbox: its SQLite file, or the URL of its PostgreSQL database (default: SIGNALBOX_DB, otherwise ${DEFAULT_INBOX})`,
).argParser(notEmpty);

/** A command for an inbox. */
export function defineInboxCommand(parent: Command, name: string, description: string) {
  return parent
    .command(name)
    .description(description)
    .addOption(DB)
    .addOption(SCHEMA)
    .option("--json", "print NDJSON")
    .addOption(ENDPOINT);
}

export type InboxOptions = OptionsOf<typeof defineInboxCommand>;

/** Makes `run` the action of the command. It is given the inbox, which is open until it ends. */
export function runsOnInbox<Args extends unknown[], Options extends InboxOptions>(
  command: Command<Args, Options>,
  context: CommandContext,
  run: (
    inbox: CommandInbox,
    ...given: [...Args, Options, CommandContext]
  ) => Promise<ExitCode | void>,
): void {
  runs(command, context, (...given) =>
    withInbox(placeOf(command.opts(), context.cli), (inbox) => run(inbox, ...given)),
  );
}

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
    const [inboxes, joined] = await inboxOf(store, endpoints, place.db);
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
export async function inboxOf(store: InboxStore, endpoints: readonly string[], db: string) {
  const { openInbox } = await import("../../kit/inbox/open-inbox.js");
  const { joinInboxes } = await import("../../page/inbox/page-inbox.js");
  const inboxes = endpoints.map((endpoint) => openInbox(store, endpoint, readAgain));
  const joined = joinInboxes(inboxes);
  const states: PageInbox["states"] = async (...args) => {
    const all = await joined.states(...args);
    const full = fullDiskOf(db);
    const unavailable = full && `The disk of ${printable(full)} has less than 64 MiB free`;
    for (const { facts } of all) facts.unavailable = unavailable;
    return all;
  };
  return [inboxes, { ...joined, states }] as const;
}

/** Reads a stored event as its sender does. */
async function readAgain(): Promise<ReadAgain> {
  const { readAgainBy } = await import("../../kit/receiver/create-handoff.js");
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

/** Serves the page of an open inbox to browsers on this machine, until `closing` is aborted. */
export async function pageOfInbox(
  inbox: PageInbox,
  { closing, note }: { closing: AbortSignal; note: (line: string) => void },
): Promise<ReturnType<typeof createPageHandler>> {
  const { createPageHandler: create } = await import("../../page/inbox/page-handler.js");
  return create({
    inbox,
    authorize: "loopback",
    clock: systemClock,
    closing,
    report: (error, text) =>
      note(`${text}: ${isSignalboxError(error) ? error.message : errorCode(error)}`),
    // No receiver in this process tells it. The page asks the store.
    onChange: () => () => undefined,
  });
}
