import { createHash } from "node:crypto";
import { addAbortSignal } from "node:stream";
import { z } from "zod";
import { isSignalboxError } from "../../base/errors.js";
import { parseJson } from "../../base/text/parse-json.js";
import { DEFAULT_SENDER, EVENT_STATES, type StoredEvent } from "../../kit/inbox/stored-events.js";
import type { CommandContext } from "../console/define-command.js";
import { CliError, EXIT, usageError } from "../console/exit.js";
import { echoed } from "../console/terminal.js";
import { placeOf, withInbox, type InboxOptions, type CommandInbox } from "./open-inbox.js";

type ImportOptions = InboxOptions & { create?: true; json?: true };

/** What one write adds at most. A receiver can write in between. */
const MOST_EVENTS = 500;
const MOST_CHARACTERS = 1_000_000;

const WHOLE = z.int().min(0);

/** A line of `export`. Other fields belong to what was received. */
const LINE = z.object({
  seq: WHOLE,
  endpoint: z.string(),
  eventId: z.string(),
  type: z.string(),
  state: z.enum(EVENT_STATES),
  dueAt: WHOLE,
  attempts: WHOLE,
  crashes: WHOLE,
  possiblyRepeated: z.boolean(),
  replayed: z.boolean(),
  receivedAt: WHOLE,
  lastError: z.string().nullable(),
  subtype: z.string().nullish(),
  subject: z.string().nullish(),
  // The names of these two before there were other senders.
  signalType: z.string().nullable().default(null),
  product: z.string().nullable().default(null),
  sender: z.string().default(DEFAULT_SENDER),
  history: z
    .array(
      z.object({
        at: WHOLE,
        kind: z.enum(["failed", "crashed", "replayed"]),
        attempts: WHOLE,
        error: z.string().nullable(),
      }),
    )
    .default([]),
  waitsBehind: z.string().nullish(),
  heldCount: WHOLE.optional(),
  earlierCount: WHOLE.optional(),
  lane: z
    .strictObject({
      key: z.string().regex(/^[0-9a-f]{32}$/),
      skips: z.boolean(),
      place: z.enum(["head", "waiting"]).nullable(),
    })
    .nullable()
    .default(null),
  headers: z.record(z.string(), z.string()),
  bodyHash: z.string().regex(/^[0-9a-f]{64}$/),
  bodyBase64: z.base64().nullable(),
});

export async function importEvents(options: ImportOptions, { cli }: CommandContext): Promise<void> {
  const { terminal, signal, stdin } = cli;
  const { endpoint } = options;
  if (stdin.isTTY)
    throw usageError("pipe the output of `signalbox inbox export` into this command");
  let read = 0;
  let imported = 0;
  const place = placeOf(options, cli);
  const lines = linesOf(addAbortSignal(signal, stdin));
  let next = await lines.next();
  // Before the inbox is opened: --create makes none for what is no export.
  if (!next.done) readLine(next.value, 1, endpoint);
  // Not with --endpoint: the inbox may not have it yet.
  await withInbox({ ...place, endpoint: undefined }, async (inbox) => {
    let batch: StoredEvent[] = [];
    let characters = 0;
    const write = async (): Promise<void> => {
      signal.throwIfAborted();
      imported += await restore(inbox, batch, read - batch.length);
      terminal.progress(`${read} events`);
      batch = [];
      characters = 0;
    };
    for (; !next.done; next = await lines.next()) {
      const event = readLine(next.value, read + 1, endpoint);
      if (batch[0]?.endpoint !== event.endpoint) await write();
      read += 1;
      batch.push(event);
      characters += next.value.length;
      if (batch.length === MOST_EVENTS || characters > MOST_CHARACTERS) await write();
    }
    await write();
  });
  const existing = read - imported;
  if (options.json) terminal.printJson({ endpoint: endpoint ?? null, imported, existing });
  else terminal.print(`imported ${imported} events; ${existing} were in the inbox already`);
}

/** Not by `node:readline`, which splits at U+2028 too. */
export async function* linesOf(input: AsyncIterable<unknown>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let line = "";
  for await (const chunk of input) {
    const lines = decoder.decode(chunk as Buffer, { stream: true }).split("\n");
    lines[0] = line + lines[0];
    line = lines.pop() ?? "";
    yield* lines;
  }
  if (line !== "") yield line;
}

/** @throws CliError that names the line, without its content */
function readLine(line: string, number: number, endpoint: string | undefined): StoredEvent {
  const json = parseJson(Buffer.from(line));
  const value = json.ok ? json.value : null;
  const parsed = LINE.safeParse(value);
  if (!parsed.success) {
    const field = parsed.error.issues[0]?.path[0];
    const where = field === undefined ? "" : ` (see its ${String(field)})`;
    throw new CliError(
      EXIT.failed,
      `line ${number} is no event of \`signalbox inbox export\`${where}`,
    );
  }
  const { bodyHash, bodyBase64, headers, signalType, product, ...entry } = parsed.data;
  if (endpoint !== undefined && entry.endpoint !== endpoint) {
    const message = `line ${number} is an event of endpoint "${echoed(entry.endpoint)}": leave --endpoint out`;
    throw new CliError(EXIT.failed, message);
  }
  const rawBody = bodyBase64 === null ? null : Buffer.from(bodyBase64, "base64");
  if (rawBody !== null && createHash("sha256").update(rawBody).digest("hex") !== bodyHash) {
    const problem = "its bodyBase64 does not have the hash that is its bodyHash";
    throw new CliError(EXIT.failed, `line ${number} was changed or damaged: ${problem}`);
  }
  const others = Object.entries(value as object).filter(
    ([name]) => !Object.hasOwn(LINE.shape, name),
  );
  return {
    ...entry,
    waitsBehind: null,
    heldCount: 0,
    earlierCount: 0,
    subtype: entry.subtype ?? signalType,
    subject: entry.subject ?? product,
    received: { ...Object.fromEntries(others), at: entry.receivedAt, headers },
    bodyHash: Buffer.from(bodyHash, "hex"),
    rawBody,
  };
}

/**
 * @param before the number of lines before the events. @throws CliError that names the line of an
 * event that cannot be stored
 */
async function restore(
  inbox: CommandInbox,
  events: readonly StoredEvent[],
  before: number,
): Promise<number> {
  const { store, open } = inbox;
  const endpoint = events[0]?.endpoint;
  if (endpoint === undefined) return 0;
  await open(endpoint);
  try {
    return (await store.restore?.(endpoint, events)) ?? 0;
  } catch (error) {
    if (!isSignalboxError(error) || error.code !== "store_row_refused") throw error;
    if (events.length === 1) {
      const line = before + 1;
      throw new CliError(
        EXIT.failed,
        `line ${line} cannot be stored; to leave it out: sed ${line}d`,
      );
    }
    let added = 0;
    for (const [index, event] of events.entries())
      added += await restore(inbox, [event], before + index);
    return added;
  }
}
