import type { Command } from "#commander";
import { runs, withExamples, type CommandContext } from "../options/define-command.js";
import { EXIT, usageError, type ExitCode } from "../options/exit.js";
import { selectByName } from "../options/match-name.js";
import { collect, httpUrl, notEmpty, wholeNumber } from "../options/parse-option.js";
import { someNames } from "../console/printable.js";
import { readDotenv } from "../options/read-input.js";
import type { ResultReport } from "../deliveries/report-results.js";
import { createCaseSender, sendCases } from "../deliveries/send-cases.js";
import { receiverAddress } from "../options/receiver-address.js";
import { addSecretOptions, readSecrets, type SecretOptions } from "../options/secrets.js";
import type { Terminal } from "../console/terminal.js";

interface ReplayOptions extends SecretOptions {
  url?: URL;
  dotenv?: string;
  only?: string;
  skip?: string[];
  asIs?: true;
  concurrency: number;
  timeout: number;
  json?: true;
}

const EXAMPLE = "npx signalbox replay --url http://localhost:3000/webhooks/signals";
const CLEAN_UP = "npx signalbox inbox discard --state quarantined --yes --db INBOX";

export function addReplayCommand(program: Command, context: CommandContext): void {
  const command = program
    .command("replay")
    .description(
      "Send every fixture and hostile delivery, and compare the answers. The receiver treats the events as real: its " +
        "onSignal gets made-up signals, and unusable events stay in its quarantine.",
    )
    .argument("[dir]", "a folder of events (*.json), also with a deliveries.json (default: the package's fixtures)")
    .option("--url <url>", "the address of the receiver (with --dotenv the default is http://localhost:PORT)", httpUrl)
    .option("--dotenv <file>", "a file with variables such as PORT; variables that are set win", notEmpty);
  addSecretOptions(command)
    .option("--only <pattern>", "only cases whose name contains this, or matches it with a *", notEmpty)
    .option("--skip <pattern>", "leave out such cases (repeatable)", collect)
    .option("--as-is", "keep the ids and times of the events; known ids are duplicates")
    .option("--concurrency <n>", "how many cases to send at a time", wholeNumber(1, 256), 1)
    .option("--timeout <seconds>", "how long to wait for an answer", wholeNumber(1, 3600), 15)
    .option("--json", "print NDJSON");
  withExamples(command, [
    [EXAMPLE, "Send all to a receiver on this machine"],
    ["signalbox replay --url http://localhost:3000/webhooks/signals --only 'signals/price_*'", "Send some of them"],
    ["signalbox replay ./captured --url http://localhost:3000/webhooks/signals", "Send your own events"],
    [CLEAN_UP.replace("INBOX", "signals.db"), "Empty the receiver's quarantine afterwards"],
  ]);
  runs(command, context, (folder: string | undefined, options: ReplayOptions) => replay(folder, options, context));
}

async function replay(folder: string | undefined, options: ReplayOptions, { cli }: CommandContext): Promise<ExitCode> {
  const { only, skip = [], dotenv, asIs = false, concurrency, timeout, json = false } = options;
  const env = dotenv === undefined ? cli.env : readDotenv(dotenv, cli.env);
  if (options.url === undefined && dotenv === undefined) {
    throw usageError(`required option '--url <url>' not specified; type for example \`${EXAMPLE}\``);
  }
  const url = options.url ?? receiverAddress(env);
  const [secret] = readSecrets(options, { env });
  // Imported here, so that other commands and --help start faster.
  const { readFixtureFolder } = await import("../deliveries/fixture-folder.js");
  const { reportResults } = await import("../deliveries/report-results.js");
  const { events, deliveries: all } = readFixtureFolder(folder);
  const deliveries = selectByName(
    all,
    ({ name }) => name,
    { ...(only !== undefined && { only: [only] }), skip },
    "price",
  );
  const startedAt = performance.now();
  const report = reportResults(cli.terminal, deliveries, json ? "json" : "all");
  const target = { url, secret, events, timeoutMs: timeout * 1000, signal: cli.signal };
  const wanted = asIs ? "exact-or-duplicate" : "exact";
  const cases = deliveries.map((what) => ({ what, wanted }) as const);
  await sendCases(cases, concurrency, createCaseSender(target, { asIs }), report.add);
  noteAccepted(report.accepted, cli.terminal);
  printVerdict(report, Math.round((performance.now() - startedAt) / 100) / 10, json, cli.terminal);
  return report.failed.length === 0 ? EXIT.ok : EXIT.failed;
}

/** Notes how many made-up events this run has added to the receiver, so that the user can remove them. */
function noteAccepted({ signals, quarantined }: ResultReport["accepted"], terminal: Terminal): void {
  if (signals > 0) terminal.note(`made-up signals for the receiver's onSignal: ${signals}`);
  if (quarantined > 0) {
    terminal.note(`events added to the receiver's quarantine: ${quarantined}; to clean up:`);
    terminal.note(`  $ ${CLEAN_UP}`);
  }
}

/** If this many cases failed, and more than half of all, they probably have one cause, and `doctor` is suggested. */
const MANY = 6;

function printVerdict(report: ResultReport, seconds: number, json: boolean, terminal: Terminal): void {
  const { total, failed, accepted } = report;
  const { green, red } = terminal.paint;
  const ok = failed.length === 0;
  if (json) terminal.printJson({ summary: { ok, total, failed, accepted, seconds } });
  else if (ok) terminal.print(green(`all ${total} answers as expected, in ${seconds} s`));
  else terminal.print(red(`${failed.length} of ${total} answers not as expected: ${someNames(failed)}`));
  if (failed.length >= MANY && failed.length > total / 2) {
    terminal.note("most answers are wrong: `npx signalbox doctor --url` with the same address finds the cause");
  }
}
