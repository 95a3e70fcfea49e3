import type { Command } from "commander";
import { runs, withExamples, type CommandContext } from "../../options/define-command.js";
import { EXIT, usageError, type ExitCode } from "../../options/exit.js";
import { httpUrl, notBlank, wholeNumber } from "../../options/parse-option.js";
import { addSecretOptions, readSecrets, type SecretOptions } from "../../options/secrets.js";
import { reportOutcomes } from "./report-outcomes.js";
import type { Outcome } from "./examinations.js";

interface DoctorOptions extends SecretOptions {
  url?: URL;
  db?: string;
  testEvent?: true;
  timeout: number;
  json?: true;
}

const EXAMPLE = "npx signalbox doctor --url http://localhost:3000/webhooks/signals";

/** With --db only, nothing is sent. */
const NO_RECEIVER = { url: new URL("http://localhost"), secrets: ["none"] } as const;

export function addDoctorCommand(program: Command, context: CommandContext): void {
  const command = program
    .command("doctor")
    .description(
      "Say what is wrong with a receiver that runs, and with what is around it, and how to fix it. It sends " +
        "only webhook.verification events, which a receiver answers and neither stores nor hands off.",
    )
    .option("--url <url>", "where the receiver listens, as it was registered or will be; or give only --db", httpUrl);
  addSecretOptions(command)
    .option("--db <file>", "examine the inbox's SQLite file too", notBlank)
    .option("--test-event", "send one webhook.test event as well: it is stored, and goes to onTest where there is one")
    .option("--timeout <seconds>", "how long to wait for an answer", wholeNumber(1, 3600), 15)
    .option("--json", "print NDJSON");
  withExamples(command, [
    [EXAMPLE, "A receiver on this machine"],
    ["signalbox doctor --url https://example.com/webhooks/signals", "As the service reaches it, with what is between"],
    ["signalbox doctor --url http://localhost:3000/webhooks/signals --db signals.db", "Its inbox too"],
    [
      "signalbox doctor --url https://example.com/webhooks/signals --json | jq 'select(.level == \"problem\")'",
      "For a monitor",
    ],
  ]);
  runs(command, context, (options: DoctorOptions) => doctor(options, context));
}

async function doctor(options: DoctorOptions, { cli }: CommandContext): Promise<ExitCode> {
  const { url, db, timeout, testEvent = false, json = false } = options;
  if (url === undefined && db === undefined) {
    throw usageError(`give --url <url>, --db <file>, or both; type for example \`${EXAMPLE}\``);
  }
  if (url === undefined && testEvent) throw usageError("--test-event goes with --url");
  const receiver = url === undefined ? NO_RECEIVER : { url, secrets: readSecrets(options, cli) };
  const report = reportOutcomes(cli.terminal, json);
  const input = {
    ...receiver,
    ...(db !== undefined && { db }),
    timeoutMs: timeout * 1000,
    sendsTestEvent: testEvent,
    signal: cli.signal,
  };
  // Loaded late, so that other commands and --help start faster.
  const { EXAMINATIONS, EXAMINATIONS_OF_THIS_MACHINE, runExaminations } = await import("./examinations.js");
  const examinations = url === undefined ? EXAMINATIONS_OF_THIS_MACHINE : EXAMINATIONS;
  const onOutcome = (outcome: Outcome): void => {
    report.add(outcome);
    cli.terminal.progress(`${outcome.examination.name} examined`);
  };
  const outcomes = await runExaminations(input, onOutcome, { examinations });
  report.summarise();
  return exitCodeOf(outcomes);
}

const REACHING = new Set(["host", "connection"]);

/** 3 when the only problem is that the receiver cannot be reached: then it is not known to be wrong. */
function exitCodeOf(outcomes: readonly Outcome[]): ExitCode {
  const problems = outcomes.flatMap((outcome) => {
    const found = "findings" in outcome ? outcome.findings.filter(({ level }) => level === "problem") : [];
    return found.map(({ blocks = false }) => ({ isUnreachable: blocks && REACHING.has(outcome.examination.name) }));
  });
  if (problems.length === 0) return EXIT.ok;
  return problems.every(({ isUnreachable }) => isUnreachable) ? EXIT.environment : EXIT.failed;
}
