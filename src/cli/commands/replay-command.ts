import type { Command } from "commander";
import { runs, withExamples, type CommandContext } from "../options/define-command.js";
import { EXIT, usageError, type ExitCode } from "../options/exit.js";
import { selectByName } from "../options/match-name.js";
import { collect, httpUrl, notBlank, wholeNumber } from "../options/parse-option.js";
import { echoed } from "../console/printable.js";
import { readDotenv } from "../options/read-input.js";
import type { ResultReport } from "../deliveries/report-results.js";
import { createCaseSender, sendCases } from "../deliveries/send-cases.js";
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
const CLEAN_UP = "npx signalbox inbox discard --state quarantined --yes --db FILE";

export function addReplayCommand(program: Command, context: CommandContext): void {
  const command = program
    .command("replay")
    .description(
      "Send every fixture event and every case of deliveries.json, and compare each answer. What the receiver accepts " +
        "it treats as real: made-up signals go to its onSignal, and what cannot be used stays in its quarantine.",
    )
    .argument("[dir]", "a folder of events (*.json), with or without a deliveries.json (default: those of the package)")
    .option("--url <url>", "where the receiver listens (with --dotenv: this machine, at its PORT)", httpUrl)
    .option(
      "--dotenv <file>",
      "take SIGNALS_SECRET, and PORT for --url, from this file where they are not set",
      notBlank,
    );
  addSecretOptions(command)
    .option("--only <pattern>", "names that contain this, or match it where it has a *", notBlank)
    .option("--skip <pattern>", "leave these names out (repeatable)", collect)
    .option("--as-is", "do not give events a new id and new times; a known id may then be answered as a duplicate")
    .option("--concurrency <n>", "cases at a time", wholeNumber(1, 256), 1)
    .option("--timeout <seconds>", "how long to wait for an answer", wholeNumber(1, 3600), 15)
    .option("--json", "print NDJSON");
  withExamples(command, [
    [EXAMPLE, "Everything, at a receiver on this machine"],
    ["signalbox replay --url http://localhost:3000/webhooks/signals --only 'signals/price_*'", "Some of it"],
    ["signalbox replay ./captured --url http://localhost:3000/webhooks/signals", "Events of your own"],
    [CLEAN_UP.replace("FILE", "signals.db"), "Afterwards, drop what it left in the receiver's quarantine"],
  ]);
  runs(command, context, (folder: string | undefined, options: ReplayOptions) => replay(folder, options, context));
}

async function replay(folder: string | undefined, options: ReplayOptions, { cli }: CommandContext): Promise<ExitCode> {
  const { only, skip = [], dotenv, asIs = false, concurrency, timeout, json = false } = options;
  const env = dotenv === undefined ? cli.env : readDotenv(dotenv, cli.env);
  const url = options.url ?? addressIn(dotenv === undefined ? null : env);
  const [secret] = readSecrets(options, { env });
  // Loaded late, so that other commands and --help start faster.
  const { readFixtureFolder } = await import("../deliveries/fixture-folder.js");
  const { reportResults } = await import("../deliveries/report-results.js");
  const { events, deliveries: all } = readFixtureFolder(folder);
  const deliveries = selectByName(
    all,
    ({ name }) => name,
    { ...(only !== undefined && { only: [only] }), skip },
    "price",
  );
  const report = reportResults(cli.terminal, deliveries, json);
  const target = { url, secret, events, timeoutMs: timeout * 1000, signal: cli.signal };
  const wanted = asIs ? "exact-or-duplicate" : "exact";
  const cases = deliveries.map((what) => ({ what, wanted }) as const);
  await sendCases(cases, concurrency, createCaseSender(target, { asIs }), report.add);
  report.summarise();
  noteAccepted(report.accepted, cli.terminal);
  return report.failed.length === 0 ? EXIT.ok : EXIT.failed;
}

/** Of a receiver that `init` made, on this machine. */
function addressIn(env: NodeJS.ProcessEnv | null): URL {
  if (env === null) throw usageError(`required option '--url <url>' not specified; type for example \`${EXAMPLE}\``);
  const port = env["PORT"] || "3000";
  if (/^\d{1,5}$/.test(port)) return new URL(`http://localhost:${port}/webhooks/signals`);
  throw usageError(`PORT is ${echoed(port)}, which is no port: give --url`);
}

/** The receiver takes the made-up events for real ones. */
function noteAccepted({ signals, quarantined }: ResultReport["accepted"], terminal: Terminal): void {
  if (signals > 0) terminal.note(`accepted by the receiver, for its onSignal: ${signals}`);
  if (quarantined > 0) terminal.note(`quarantined by the receiver: ${quarantined}; to clean up: ${CLEAN_UP}`);
}
