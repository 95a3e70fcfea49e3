import { type Command, Option } from "#commander";
import { DAY_MS } from "../../base/time/units.js";
import { exportedEvent } from "../../kit/inbox/exported-event.js";
import type { OpenInbox } from "../../kit/inbox/open-inbox.js";
import { RETENTION } from "../../kit/inbox/deleting/retention.js";
import type { EventKey } from "../../kit/inbox/store.js";
import { EVENT_STATES } from "../../kit/inbox/stored-events.js";
import { type CommandContext, runs } from "../console/define-command.js";
import { EXIT, usageError } from "../console/exit.js";
import { untilStopped } from "../console/interruption.js";
import { numberOf, wholeNumber } from "../console/options.js";
import { printable, echoed } from "../console/terminal.js";
import { addEraseCommands } from "./erase-commands.js";
import { addMoveCommands } from "./move-commands.js";
import {
  defineInboxCommand,
  noteIfEmpty,
  pageOfInbox,
  placeOf,
  runsOnInbox,
  withInbox,
} from "./open-inbox.js";
import {
  addFailuresCommand,
  addListCommand,
  addShowCommand,
  addStatsCommand,
} from "./read-commands.js";
import { addMentions, queriesOf, searchPages } from "./select-events.js";

export function addCommand(program: Command, context: CommandContext): void {
  const command = program
    .command("inbox")
    .description(
      "List, show, retry and delete the events of an inbox. The receiver can run at the same time.",
    );
  addListCommand(command, context);
  addFailuresCommand(command, context);
  addShowCommand(command, context);
  addMoveCommands(command, context);
  addEraseCommands(command, context);
  addExportCommand(command, context);
  addImportCommand(command, context);
  addPruneCommand(command, context);
  addStatsCommand(command, context);
  addServeCommand(command, context);
}

/** An inbox can be larger than memory. */
const PAGE = 500;
/** A database is not waited for after each event. */
const READ_AT_ONCE = 20;

function addExportCommand(parent: Command, context: CommandContext): void {
  const command = addMentions(
    defineInboxCommand(
      parent,
      "export",
      "Print events as NDJSON, with headers and payload (base64).",
    ),
  ).addOption(new Option("--state <state>", "only events in this state").choices(EVENT_STATES));
  runsOnInbox(command, context, async (inbox, ids, options, { cli: { terminal, signal } }) => {
    const { state, subject, containing, tenant } = options;
    let count = 0;
    async function* pagesOf({ list }: OpenInbox): AsyncGenerator<readonly EventKey[]> {
      for (let page = await list({ state, limit: PAGE }); page.length > 0;) {
        yield page.filter(({ eventId }) => eventId.startsWith(tenant ? `${tenant}/` : ""));
        page = await list({ state, afterSeq: page.at(-1)?.seq, limit: PAGE });
      }
    }
    const isAboutAll = ids.length === 0 && (subject ?? containing) === undefined;
    const { queries, missing } = await queriesOf(inbox, ids, options, terminal);
    for (const [open, query] of queries) {
      for await (const page of isAboutAll ? pagesOf(open) : open.find(query)) {
        for (let from = 0; from < page.length; from += READ_AT_ONCE) {
          signal.throwIfAborted();
          if (terminal.isClosed) return EXIT.ok;
          const group = page.slice(from, from + READ_AT_ONCE);
          const read = await Promise.all(group.map(({ eventId }) => open.get(eventId)));
          // Retention may have deleted an event after the page was read.
          const events = read
            .filter((event) => event !== undefined)
            .filter((event) => state === undefined || event.state === state);
          const lines = events.map(
            (event) => `${printable(JSON.stringify(exportedEvent(event)))}\n`,
          );
          await terminal.write(lines.join(""));
          count += events.length;
        }
        terminal.progress(`${count} events`);
      }
    }
    await noteIfEmpty(inbox, terminal);
    return missing > 0 ? EXIT.failed : EXIT.ok;
  });
}

function addImportCommand(parent: Command, context: CommandContext): void {
  const command = defineInboxCommand(
    parent,
    "import",
    "Add the events that `inbox export` printed, from stdin. Events whose ids are in the inbox are not changed, so it can be run again.",
  ).option("--create", "make the inbox if there is none");
  runs(command, context, async (...given) =>
    (await import("./import-events.js")).importEvents(...given),
  );
}

const { keyDays: KEY_DAYS, leastKeyDays: LEAST, payloadDays: PAYLOAD_DAYS } = RETENTION;
/**
 * The number of events in a batch. It is small, so that a running receiver can write between two
 * batches.
 */
const ROWS_AT_ONCE = 500;

function addPruneCommand(parent: Command, context: CommandContext): void {
  const command = defineInboxCommand(
    parent,
    "prune",
    "Delete old done events now, as a running receiver does.",
  )
    .option(
      "--key-days <days>",
      `how long the id of a done event is kept; at least ${LEAST}`,
      numberOf(LEAST),
      KEY_DAYS,
    )
    .option(
      "--payload-days <days>",
      "how long its payload is kept; at most --key-days",
      numberOf(0),
      PAYLOAD_DAYS,
    )
    .option("--dry-run", "count what it would delete, and delete nothing");
  runs(command, context, async (options, { cli }) => {
    const { keyDays, payloadDays, json, dryRun = false } = options;
    const { terminal, signal } = cli;
    if (payloadDays > keyDays) {
      throw usageError(
        `--payload-days ${payloadDays} is more than --key-days ${keyDays}: a payload cannot be kept longer than its id`,
      );
    }
    const request = {
      payloadsOlderThanMs: payloadDays * DAY_MS,
      keysOlderThanMs: keyDays * DAY_MS,
      limit: ROWS_AT_ONCE,
    };
    await withInbox(placeOf(options, cli), async (inbox) => {
      const { store, endpoints, now } = inbox;
      for (const endpoint of endpoints) {
        const total = { payloads: 0, keys: 0 };
        const done = dryRun ? searchPages(inbox, { state: "done", endpoint }) : [];
        for await (const page of done) {
          signal.throwIfAborted();
          for (const { dueAt } of page) {
            total.payloads += Number(dueAt < now - request.payloadsOlderThanMs);
            total.keys += Number(dueAt < now - request.keysOlderThanMs);
          }
        }
        for (let isOver: boolean = dryRun; !isOver;) {
          signal.throwIfAborted();
          const { payloads, keys, isAtEnd } = await store.prune({ endpoint, ...request });
          total.payloads += payloads;
          total.keys += keys;
          terminal.progress(`${total.payloads} payloads, ${total.keys} ids`);
          isOver = payloads + keys === 0 && isAtEnd !== false;
        }
        const of = endpoints.length > 1 ? ` of ${echoed(endpoint)}` : "";
        // A search does not tell whose payload is deleted already.
        const what = dryRun ? "would delete at most" : "deleted";
        if (json) terminal.printJson({ endpoint, ...total });
        else terminal.print(`${what} ${total.payloads} payloads and ${total.keys} ids${of}`);
      }
    });
  });
}

/** Not reachable from another machine: the page has no login. */
const HOST = "127.0.0.1";

function addServeCommand(parent: Command, context: CommandContext): void {
  const command = defineInboxCommand(
    parent,
    "serve",
    "Serve a page that shows the inbox: it replays and discards events too, for browsers on this machine.",
  ).option(
    "--port <n>",
    "the port to listen on; 0 chooses a free port",
    wholeNumber(0, 65_535),
    4020,
  );
  runsOnInbox(command, context, async (inbox, { port, json }, { cli, outcome }) => {
    const { print, printJson, note, paint } = cli.terminal;
    const { listen } = await import("../../service/emulator/http/listen.js");
    const closing = new AbortController();
    const handler = await pageOfInbox(inbox, { closing: closing.signal, note });
    const listening = await listen({ port, host: HOST }, handler);
    try {
      const url = `http://${HOST}:${listening.port}/`;
      if (json) printJson({ url, endpoints: inbox.endpoints, pid: process.pid });
      else {
        print(`${paint.green("●")} ${paint.bold("The inbox is at")} ${url}`);
        print(paint.dim("  Only browsers on this machine can open it. Ctrl-C stops it."));
      }
      await noteIfEmpty(inbox, cli.terminal);
      await untilStopped(cli, outcome);
    } finally {
      closing.abort();
      await listening.close();
    }
  });
}
