import type { Command } from "#commander";
import { runs, type CommandContext } from "../../console/define-command.js";
import { EXIT, usageError, type ExitCode } from "../../console/exit.js";
import {
  httpUrl,
  notEmpty,
  wholeNumber,
  readSecrets,
  SECRET,
  SECRET_FILE,
} from "../../console/options.js";
import { PUBLIC_URL, SENDER, senderOf } from "../../console/sender.js";
import { printable, type Terminal } from "../../console/terminal.js";
import { assertPlace, ENDPOINT, SCHEMA } from "../../inbox/open-inbox.js";
import { JUDGED_SINCE } from "../../inbox/select-events.js";
import type { Finding } from "./examination.js";
import type { Outcome } from "./examinations.js";

const EXAMPLE = "npx signalbox doctor --url http://localhost:3000/webhooks/signals";

export function addCommand(program: Command, context: CommandContext): void {
  const command = program
    .command("doctor")
    .description(
      "Say what is wrong with a running receiver, and how to fix it. It sends only webhook.verification events, " +
        "which a receiver answers but does not store or hand off.",
    )
    .option("--url <url>", "the address of the receiver, as registered at the service", httpUrl)
    .addOption(SECRET)
    .addOption(SECRET_FILE)
    .addOption(SENDER)
    .addOption(PUBLIC_URL)
    .option(
      "--db <inbox>",
      "also examine the inbox: its SQLite file, or postgres://…; --url is then optional",
      notEmpty,
    )
    .addOption(SCHEMA)
    .addOption(ENDPOINT)
    .addOption(JUDGED_SINCE)
    .option(
      "--test-event",
      "also send a webhook.test event, which is stored; with --sender its sample",
    )
    .option("--timeout <seconds>", "how long to wait for an answer", wholeNumber(1, 3600), 15)
    .option("--json", "print NDJSON");
  runs(command, context, async (options, { cli }) => {
    const { url, db, schema, endpoint, since, timeout, testEvent = false, json = false } = options;
    if (url === undefined && db === undefined) {
      throw usageError(`give --url <url>, --db <inbox>, or both; type for example \`${EXAMPLE}\``);
    }
    if (url === undefined && testEvent) throw usageError("--test-event needs --url");
    if (db !== undefined) assertPlace({ db, schema });
    else if (endpoint !== undefined || since !== undefined)
      throw usageError("--endpoint and --since need --db");
    const secrets = url === undefined ? [] : readSecrets(options, cli);
    const { terminal, signal } = cli;
    const input = {
      url: url ?? null,
      secrets,
      db,
      schema,
      endpoint,
      since,
      signal,
      sender: options.sender && (await senderOf(options, secrets[0])),
      timeoutMs: timeout * 1000,
      sendsTestEvent: testEvent,
    };
    let group = "";
    // Imported here, so that other commands and --help start faster.
    const { runExaminations } = await import("./examinations.js");
    const outcomes = await runExaminations(input, (outcome) => {
      const { examination } = outcome;
      if (json) for (const row of rowsOf(outcome)) terminal.printJson(row);
      else {
        if (examination.group !== group)
          terminal.print(`${group === "" ? "" : "\n"}${terminal.paint.bold(examination.group)}`);
        group = examination.group;
        for (const line of linesOf(outcome, terminal)) terminal.print(line);
      }
      terminal.progress(`${examination.id} examined`);
    });
    summarise(outcomes, terminal, json);
    return exitCodeOf(outcomes);
  });
}

/** The exit code is 3 if the only problem is that the receiver cannot be reached. */
function exitCodeOf(outcomes: readonly Outcome[]): ExitCode {
  const areUnreachable = outcomes.flatMap(({ examination, findings }) => {
    const reaches = ["host", "connection"].includes(examination.id);
    const problems = findings.filter(({ level }) => level === "problem");
    return problems.map(({ blocks = false }) => blocks && reaches);
  });
  if (areUnreachable.length === 0) return EXIT.ok;
  return areUnreachable.every(Boolean) ? EXIT.environment : EXIT.failed;
}

function summarise(
  outcomes: readonly Outcome[],
  { print, printJson, paint }: Terminal,
  asJson: boolean,
): void {
  const all = outcomes.flatMap(({ findings }) => findings);
  const idsOf = (wanted: Finding["level"]): string[] =>
    all.filter(({ level }) => level === wanted).map(({ id }) => id);
  const problems = idsOf("problem");
  const warnings = idsOf("warning");
  const ok = problems.length === 0;
  if (asJson) return printJson({ summary: { ok, problems, warnings } });
  const colour = !ok ? paint.red : warnings.length > 0 ? paint.yellow : paint.green;
  const counts = [
    ok ? "no problems found" : counted(problems, "problem"),
    ...(warnings.length === 0 ? [] : [counted(warnings, "warning")]),
  ];
  print(`\n${colour(counts.join("; "))}`);
}

const WIDTH = "problem  ".length;
const INDENT = " ".repeat(WIDTH + 2);

function linesOf({ examination, findings, skipped }: Outcome, { paint }: Terminal): string[] {
  if (skipped !== null)
    return [paint.dim(`  ${"skipped".padEnd(WIDTH)}${examination.id}: ${skipped}`)];
  const colours = { ok: paint.green, warning: paint.yellow, problem: paint.red };
  return findings.flatMap(({ level, id, found, fix, commands = [] }) => {
    const verdict = `${colours[level](level)}${" ".repeat(WIDTH - level.length)}`;
    const line = `  ${verdict}${printable(found)} ${paint.dim(`[${id}]`)}`;
    return fix === null
      ? [line]
      : [line, `${INDENT}→ ${printable(fix)}`, ...commands.map((each) => `${INDENT}  $ ${each}`)];
  });
}

function rowsOf({ examination: { id: examination, group }, findings, skipped }: Outcome): object[] {
  if (skipped !== null)
    return [{ level: "skipped", id: null, examination, group, found: skipped, fix: null }];
  return findings.map(({ level, id, found, fix, commands = [] }) => {
    const advice = fix === null ? null : [fix, ...commands.map((each) => `\`${each}\``)].join(" ");
    return { level, id, examination, group, found, fix: advice };
  });
}

function counted(ids: readonly string[], noun: string): string {
  return `${ids.length} ${noun}${ids.length === 1 ? "" : "s"}: ${ids.join(", ")}`;
}
