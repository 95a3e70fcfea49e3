import type { Command } from "#commander";
import type { EndpointState } from "../../kit/inbox/open-inbox.js";
import { joinRefusals } from "../../kit/inbox/receiver-report.js";
import { describeEndpoints } from "../../kit/inbox/situation.js";
import { EVENT_STATES } from "../../kit/inbox/stored-events.js";
import { runs, withExamples, type CommandContext } from "../console/define-command.js";
import { EXIT } from "../console/exit.js";
import { shortened } from "../console/printable.js";
import { formatTable } from "../console/table.js";
import { JUDGED_SINCE } from "./filters.js";
import { addInboxOptions, withInbox } from "./open-inbox.js";
import { refusalLines } from "./refusal-lines.js";
import { colourOf } from "./event-fields.js";

export function addStatsCommand(parent: Command, context: CommandContext): void {
  const command = addInboxOptions(
    parent
      .command("stats")
      .description(
        "Say what is wrong with each endpoint, and count the events in each state. The exit code is 1 if a person must act.",
      ),
  ).addOption(JUDGED_SINCE);
  withExamples(command, [
    ["signalbox inbox stats --db signals.db", "Is it behind, paused, or refusing? Then the counts"],
    [
      "signalbox inbox stats --db signals.db --json | jq .dead",
      "Print the number of dead events, for a monitor",
    ],
    [
      "signalbox inbox stats --db signals.db --endpoint stripe --since 1h",
      "For a script: exit 1 if it needs a person",
    ],
  ]);
  runs(command, context, async (options, { cli: { terminal } }) =>
    withInbox(options, async (inbox) => {
      const { level, lines, endpoints } = describeEndpoints(
        await inbox.states(inbox.now, options.since),
      );
      // A receiver that is stopped while nothing waits is told, and fails no script.
      const needsNobody = endpoints.every(({ problems, stats }) =>
        problems.every(({ id }) => id === "inbox_not_owned" && stats.ready === 0),
      );
      const exitCode = needsNobody ? EXIT.ok : EXIT.failed;
      const refusals = joinRefusals(endpoints.map((each) => each.refusals));
      if (options.json) {
        const rows = endpoints.map(rowOf);
        const endpoint = rows.length === 1 ? rows[0]?.endpoint : null;
        terminal.printJson({
          endpoint,
          ...total(rows),
          refusals,
          level,
          summary: lines.join(" "),
          endpoints: rows,
        });
        return exitCode;
      }
      const { paint, print } = terminal;
      for (const line of lines) print((level === "ok" ? paint.green : paint.red)(line));
      for (const line of refusalLines(refusals, inbox.now)) print(line);
      const counts = endpoints.map(({ endpoint, stats }) => [
        shortened(endpoint, 24),
        ...EVENT_STATES.map((state) => {
          const count = String(stats[state]).padStart(state.length);
          return stats[state] > 0 ? colourOf(state, paint)(count) : count;
        }),
      ]);
      for (const line of formatTable([
        ["ENDPOINT", ...EVENT_STATES.map((state) => state.toUpperCase())],
        ...counts,
      ]))
        print(line);
      return exitCode;
    }),
  );
}

type State = ReturnType<typeof describeEndpoints<EndpointState>>["endpoints"][number];

function rowOf({ endpoint, stats, facts: { pause, hasReceiver }, refusals, level, text }: State) {
  const { oldestReadyAgeMs, oldestReceivedAgeMs } = stats;
  const ages = {
    oldestReadyAgeMs: oldestReadyAgeMs ?? 0,
    oldestReceivedAgeMs: oldestReceivedAgeMs ?? 0,
  };
  return { endpoint, ...stats, ...ages, pause, hasReceiver, refusals, level, summary: text };
}

/** The sums, the largest ages, the first pause; and no receiver if an endpoint has none. */
function total(rows: readonly ReturnType<typeof rowOf>[]): object {
  const all: Record<string, unknown> = {};
  for (const name of [...EVENT_STATES, "total"] as const)
    all[name] = rows.reduce((sum, row) => sum + row[name], 0);
  for (const name of ["oldestReadyAgeMs", "oldestReceivedAgeMs"] as const)
    all[name] = Math.max(...rows.map((row) => row[name]));
  const pauses = rows.flatMap(({ pause }) => pause ?? []).sort((a, b) => a.since - b.since);
  const worst = [false, null, true].find((has) =>
    rows.some(({ hasReceiver }) => hasReceiver === has),
  );
  return { ...all, pause: pauses[0] ?? null, hasReceiver: worst ?? null };
}
