import type { Command } from "#commander";
import { formatCount } from "../../base/text/format.js";
import { eventsToErase, type EraseQuery } from "../../kit/inbox/erase.js";
import type { CommandContext } from "../console/define-command.js";
import { CliError, EXIT, usageError } from "../console/exit.js";
import { notEmpty } from "../console/options.js";
import { defineInboxCommand, noteIfEmpty, runsOnInbox } from "./open-inbox.js";

/** `erase` and `vacuum`. */
export function addEraseCommands(parent: Command, context: CommandContext): void {
  const erase = defineInboxCommand(
    parent,
    "erase",
    "Erase what is stored of events, in any state: payload, errors, history and subject. Their ids stay known, so they are not accepted again.",
  )
    .argument("[id...]", "the events' ids")
    .option("--subject <subject>", "the events about exactly this", notEmpty)
    .option("--containing <text>", "the events that have this text; each body is read", notEmpty)
    .option("--dry-run", "count them, and erase nothing")
    .option("--yes", "required to erase");
  runsOnInbox(erase, context, async (inbox, ids, options, { cli: { terminal, signal } }) => {
    const { subject, containing, json } = options;
    if (
      Number(ids.length > 0) + Number(subject !== undefined) + Number(containing !== undefined) !==
      1
    )
      throw usageError("give either ids, or --subject, or --containing");
    const query =
      subject !== undefined ? { subject } : containing !== undefined ? { containing } : { ids };
    if (containing !== undefined && containing.length < 4)
      throw usageError("--containing needs at least 4 characters");
    for (const { endpoint, erase: eraseAll, get } of inbox.inboxes) {
      signal.throwIfAborted();
      if (options.dryRun || !options.yes) {
        let count = 0;
        for await (const page of eventsToErase(inbox.store, endpoint, query)) {
          const found = await Promise.all(page.map((id) => get(id, 0)));
          count += found.filter((event) => event !== undefined).length;
        }
        const what = `${formatCount(count, "event")} of ${endpoint}`;
        if (!options.dryRun && count > 0) throw usageError(`this erases ${what}; add --yes`);
        if (json) terminal.printJson({ endpoint, dryRun: true, erased: count });
        else terminal.print(`would erase ${what}`);
        continue;
      }
      const { erased, files, why } = await eraseAll(query as EraseQuery);
      if (json) terminal.printJson({ endpoint, erased, files, why });
      else terminal.print(`erased ${formatCount(erased, "event")} of ${endpoint}; files: ${files}`);
      if (why !== null) terminal.note(why);
    }
    await noteIfEmpty(inbox, terminal);
  });

  const vacuum = defineInboxCommand(
    parent,
    "vacuum",
    "Write the inbox anew, without what is left of deleted events. Stop the receiver first.",
  );
  runsOnInbox(vacuum, context, async ({ store, endpoints }, { json }, { cli }) => {
    for (const endpoint of endpoints)
      if (await store.hasReceiver(endpoint))
        throw new CliError(
          EXIT.failed,
          "a receiver has the inbox open: stop it, and start it again afterwards",
        );
    await store.vacuum?.();
    if (json) cli.terminal.printJson({ summary: { ok: true } });
    else cli.terminal.print("the inbox is written anew");
  });
}
