import type { Command } from "#commander";
import { formatCount } from "../../base/text/format.js";
import type { EraseQuery } from "../../kit/inbox/erase.js";
import type { CommandContext } from "../console/define-command.js";
import { CliError, EXIT, usageError } from "../console/exit.js";
import { notEmpty } from "../console/options.js";
import { echoed } from "../console/terminal.js";
import { defineInboxCommand, noteIfEmpty, runsOnInbox } from "./open-inbox.js";

/** `erase` and `vacuum`. */
export function addEraseCommands(parent: Command, context: CommandContext): void {
  const { terminal } = context.cli;
  const command = defineInboxCommand(
    parent,
    "erase",
    "Erase what is stored of events, in any state. Their ids stay known, so they are not accepted again.",
  )
    .argument("[id...]", "the events' ids")
    .option("--subject <subject>", "the events about exactly this", notEmpty)
    .option("--containing <text>", "the events that have this text; each body is read", notEmpty)
    .option("--tenant <name>", "of these only those of this tenant", notEmpty)
    .option("--dry-run", "count them, and erase nothing")
    .option("--yes", "required to erase");
  runsOnInbox(command, context, async (inbox, given, options) => {
    const { subject, containing, tenant, dryRun, yes, json } = options;
    const ids = given.length > 0 ? given : undefined;
    const isDry = dryRun || !yes;
    let total = 0;
    for (const { endpoint, erase } of inbox.inboxes) {
      const query = { ids, subject, containing, tenant } as EraseQuery;
      const { erased, files, why } = await erase(query, isDry);
      total += erased;
      if (isDry && !dryRun) continue;
      const count = `${formatCount(erased, "event")} of ${echoed(endpoint)}`;
      if (json) terminal.printJson({ endpoint, erased, ...(isDry ? { dryRun } : { files, why }) });
      else terminal.print(isDry ? `would erase ${count}` : `erased ${count}; files: ${files}`);
      if (!isDry && why !== null) terminal.note(why);
    }
    if (isDry && !dryRun && total > 0)
      throw usageError(`this erases ${formatCount(total, "event")}; add --yes`);
    await noteIfEmpty(inbox, terminal);
    return total < given.length ? EXIT.failed : EXIT.ok;
  });

  const vacuum = defineInboxCommand(
    parent,
    "vacuum",
    "Write the file of an inbox anew, without what is left of deleted events. Stop the receiver first.",
  );
  runsOnInbox(vacuum, context, async ({ store, endpoints: [endpoint = ""] }, { json }) => {
    if (store.vacuum === undefined)
      throw usageError("in PostgreSQL, run VACUUM FULL for the tables of the schema");
    if (await store.hasReceiver(endpoint))
      throw new CliError(EXIT.failed, "a receiver has the inbox open: stop it first");
    await store.vacuum();
    if (json) terminal.printJson({ summary: { ok: true } });
    else terminal.print("the inbox is written anew");
  });
}
