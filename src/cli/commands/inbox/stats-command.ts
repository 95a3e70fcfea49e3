import type { Command } from "#commander";
import { EVENT_STATES } from "../../../inbox/stored-events.js";
import { readInboxState } from "../../../inbox/read-situation.js";
import { describeSituation } from "../../../inbox/situation.js";
import { formatAge } from "../../../text/format.js";
import { runs, withExamples, type CommandContext } from "../../options/define-command.js";
import { formatTable } from "../../console/table.js";
import { addInboxOptions, noteOtherEndpoint, withInbox } from "../../inbox/open-inbox.js";
import { refusalLines } from "../../inbox/refusal-lines.js";
import { colourOf } from "./event-fields.js";

export function addStatsCommand(parent: Command, context: CommandContext): void {
  const command = addInboxOptions(
    parent.command("stats").description("Say whether the receiver is behind, and count the events in each state."),
  );
  withExamples(command, [
    ["signalbox inbox stats --db signals.db", "Is it behind, paused, or refusing? Then the counts"],
    ["signalbox inbox stats --db signals.db --json | jq .dead", "Print the number of dead events, for a monitor"],
  ]);
  runs(command, context, async (options, { cli: { terminal } }) => {
    const { endpoint, json } = options;
    await withInbox(options, async (inbox) => {
      const { stats, facts, refusals } = await readInboxState(inbox.store, endpoint, inbox.now);
      const { oldestReadyAgeMs, oldestReceivedAgeMs, ...counts } = stats;
      const { level, text } = describeSituation(facts);
      if (json) {
        const ages = { oldestReadyAgeMs: oldestReadyAgeMs ?? 0, oldestReceivedAgeMs: oldestReceivedAgeMs ?? 0 };
        const { pause, hasReceiver } = facts;
        terminal.printJson({ endpoint, ...counts, ...ages, pause, hasReceiver, refusals, level, summary: text });
        return;
      }
      if (counts.total === 0) await noteOtherEndpoint(inbox, terminal);
      const { paint } = terminal;
      terminal.print((level === "ok" ? paint.green : paint.red)(text));
      for (const line of refusalLines(refusals, inbox.now)) terminal.print(line);
      if (counts.total === 0) return;
      const isDue = oldestReadyAgeMs !== null && oldestReadyAgeMs > 0;
      const remark = isDue ? `the oldest has been due for ${formatAge(oldestReadyAgeMs)}` : "";
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
