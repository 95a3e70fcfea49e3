import type { Command } from "#commander";
import { EVENT_STATES } from "../../../inbox/stored-events.js";
import { formatAge } from "../../../text/format.js";
import { runs, withExamples, type CommandContext } from "../../options/define-command.js";
import { formatTable } from "../../console/table.js";
import { addInboxOptions, noteOtherEndpoint, withInbox } from "../../inbox/open-inbox.js";
import { colourOf } from "./event-fields.js";

export function addStatsCommand(parent: Command, context: CommandContext): void {
  const command = addInboxOptions(parent.command("stats").description("Count the events in each state."));
  withExamples(command, [
    ["signalbox inbox stats --db signals.db", "Print the counts"],
    ["signalbox inbox stats --db signals.db --json | jq .dead", "Print the number of dead events, for a monitor"],
  ]);
  runs(command, context, async (options, { cli: { terminal } }) => {
    const { endpoint, json } = options;
    await withInbox(options, async (inbox) => {
      const { oldestReadyAgeMs: ageMs, ...counts } = await inbox.store.stats(endpoint);
      const oldestReadyAgeMs = ageMs ?? 0;
      if (json) {
        terminal.printJson({ endpoint, ...counts, oldestReadyAgeMs });
        return;
      }
      if (counts.total === 0) return noteOtherEndpoint(inbox, terminal);
      const { paint } = terminal;
      const remark = counts.ready === 0 ? "" : `the oldest has been due for ${formatAge(oldestReadyAgeMs)}`;
      const rows = EVENT_STATES.map((state) => [
        counts[state] > 0 ? colourOf(state, paint)(state) : state,
        String(counts[state]).padStart(8),
        state === "ready" ? paint.dim(remark) : "",
      ]);
      rows.push(["total", String(counts.total).padStart(8)]);
      for (const line of formatTable(rows)) terminal.print(line);
    });
  });
}
