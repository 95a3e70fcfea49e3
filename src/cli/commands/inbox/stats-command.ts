import type { Command } from "#commander";
import { joinRefusals } from "../../../inbox/receiver-report.js";
import { describeEndpoints, type EndpointSituation } from "../../../inbox/situation.js";
import { EVENT_STATES } from "../../../inbox/stored-events.js";
import { formatAge } from "../../../text/format.js";
import { runs, withExamples, type CommandContext } from "../../options/define-command.js";
import { EXIT } from "../../options/exit.js";
import { shortened } from "../../console/printable.js";
import { formatTable } from "../../console/table.js";
import type { Paint } from "../../console/terminal.js";
import { commandsFor, readStates, type EndpointState } from "../../inbox/endpoint-states.js";
import { JUDGED_SINCE } from "../../inbox/filters.js";
import { addInboxOptions, withInbox } from "../../inbox/open-inbox.js";
import { refusalLines } from "../../inbox/refusal-lines.js";
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
    ["signalbox inbox stats --db signals.db --json | jq .dead", "Print the number of dead events, for a monitor"],
    ["signalbox inbox stats --db signals.db --endpoint stripe --since 1h", "For a script: exit 1 if it needs a person"],
  ]);
  runs(command, context, async (options, { cli: { terminal } }) =>
    withInbox(options, async (inbox) => {
      const states = await readStates(inbox, options.since);
      const { level, lines, endpoints } = describeEndpoints(states);
      if (options.json) terminal.printJson(jsonOf(states, level, lines, endpoints));
      else {
        const { paint, print } = terminal;
        for (const line of lines) print((level === "ok" ? paint.green : paint.red)(line));
        const refusals = joinRefusals(states.map((state) => state.refusals));
        for (const line of refusalLines(refusals, inbox.now)) print(line);
        for (const line of countLines(states, paint)) print(line);
        const place = inbox.isShared ? options : { ...options, endpoint: undefined };
        const first = endpoints.flatMap(({ problems }) =>
          problems.flatMap(({ id }) => commandsFor(id, place).slice(0, 1)),
        );
        for (const next of new Set(first)) print(paint.dim(`$ ${next}`));
      }
      return level === "ok" ? EXIT.ok : EXIT.failed;
    }),
  );
}

/** The sums or the worst of all endpoints, and then each. */
function jsonOf(
  states: readonly EndpointState[],
  level: string,
  lines: readonly string[],
  situations: readonly EndpointSituation[],
): object {
  const rows = states.map(({ endpoint, stats, facts: { pause, hasReceiver }, refusals }) => {
    const { oldestReadyAgeMs, oldestReceivedAgeMs, ...counts } = stats;
    const ages = { oldestReadyAgeMs: oldestReadyAgeMs ?? 0, oldestReceivedAgeMs: oldestReceivedAgeMs ?? 0 };
    const own = situations.find((situation) => situation.endpoint === endpoint);
    return { endpoint, ...counts, ...ages, pause, hasReceiver, refusals, level: own?.level, summary: own?.text };
  });
  const sumOf = (name: (typeof COUNTED)[number]): number => rows.reduce((sum, row) => sum + row[name], 0);
  const pauses = rows.flatMap(({ pause }) => pause ?? []).sort((a, b) => a.since - b.since);
  const receivers = rows.map(({ hasReceiver }) => hasReceiver);
  return {
    endpoint: rows.length === 1 ? rows[0]?.endpoint : null,
    ...Object.fromEntries(COUNTED.map((name) => [name, sumOf(name)])),
    oldestReadyAgeMs: Math.max(...rows.map((row) => row.oldestReadyAgeMs)),
    oldestReceivedAgeMs: Math.max(...rows.map((row) => row.oldestReceivedAgeMs)),
    pause: pauses[0] ?? null,
    hasReceiver: receivers.includes(false) ? false : receivers.includes(null) ? null : true,
    refusals: joinRefusals(rows.map(({ refusals }) => refusals)),
    level,
    summary: lines.join(" "),
    endpoints: rows,
  };
}

const COUNTED = [...EVENT_STATES, "total"] as const;

/** Of one endpoint a line for each state, of several a line for each endpoint. */
function countLines(states: readonly EndpointState[], paint: Paint): string[] {
  const [only, ...others] = states;
  if (only === undefined || others.length > 0) {
    const rows = states.map(({ endpoint, stats }) => [
      shortened(endpoint, 24),
      ...EVENT_STATES.map((state) => {
        const count = String(stats[state]).padStart(state.length);
        return stats[state] > 0 ? colourOf(state, paint)(count) : count;
      }),
    ]);
    return formatTable([["ENDPOINT", ...EVENT_STATES.map((state) => state.toUpperCase())].map(paint.dim), ...rows]);
  }
  const { stats } = only;
  if (stats.total === 0) return [];
  const isDue = stats.oldestReadyAgeMs !== null && stats.oldestReadyAgeMs > 0;
  const remark = isDue ? `the oldest has been due for ${formatAge(stats.oldestReadyAgeMs ?? 0)}` : "";
  const rows = EVENT_STATES.map((state) => [
    stats[state] > 0 ? colourOf(state, paint)(state) : state,
    String(stats[state]).padStart(8),
    state === "ready" ? paint.dim(remark) : "",
  ]);
  return formatTable([...rows, ["total", String(stats.total).padStart(8)]]);
}
