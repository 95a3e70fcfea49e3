import type { Command } from "#commander";
import { formatCount } from "../../base/text/format.js";
import type { CommandContext } from "../console/define-command.js";
import { CliError, EXIT, usageError } from "../console/exit.js";
import { echoed, printable } from "../console/terminal.js";
import { defineInboxCommand, noteIfEmpty, runsOnInbox } from "./open-inbox.js";
import { addMentions, queriesOf, shortId } from "./select-events.js";

/** `erase` and `vacuum`. */
export function addEraseCommands(parent: Command, context: CommandContext): void {
  const { terminal } = context.cli;
  const command = addMentions(
    defineInboxCommand(
      parent,
      "erase",
      "Erase what is stored of events, in any state. Their ids stay known, so they are not accepted again.",
    ),
  )
    .option("--dry-run", "print what it would erase, and erase nothing")
    .option("--yes", "required to erase");
  runsOnInbox(command, context, async (inbox, ids, options) => {
    const { dryRun, yes, json, subject, containing } = options;
    if (ids.length === 0 && (subject ?? containing) === undefined)
      throw usageError("give ids, --subject <subject> or --containing <text>");
    const { queries, missing } = await queriesOf(inbox, ids, options, terminal);
    let total = 0;
    for (const [{ endpoint, find, erase }, query] of queries) {
      const of = (count: number): string => `${formatCount(count, "event")} of ${echoed(endpoint)}`;
      if (yes && !dryRun) {
        const { why, ...done } = await erase(query);
        if (json) terminal.printJson({ endpoint, ...done, why });
        else terminal.print(`erased ${of(done.erased)}; files: ${done.files}`);
        if (why !== null) terminal.note(why);
        continue;
      }
      const prefix = inbox.isShared ? `${printable(endpoint)}/` : "";
      const before = total;
      for await (const events of find(query)) {
        total += events.length;
        for (const { eventId } of dryRun ? events : [])
          if (json) terminal.printJson({ endpoint, eventId });
          else terminal.print(prefix + shortId(eventId));
      }
      if (!dryRun) continue;
      const erased = total - before;
      if (json) terminal.printJson({ endpoint, erased, dryRun });
      else terminal.print(`would erase ${of(erased)}`);
    }
    if (total > 0 && !dryRun)
      throw usageError(`this erases ${formatCount(total, "event")}; add --yes`);
    await noteIfEmpty(inbox, terminal);
    return missing > 0 ? EXIT.failed : EXIT.ok;
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
