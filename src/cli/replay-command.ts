import type { Command } from "commander";
import { runs, withExamples, type CommandContext } from "./define-command.js";
import { EXIT, usageError, type ExitCode } from "./exit.js";
import { PACKAGED_FIXTURES, readFixtureFolder } from "./fixture-folder.js";
import { matchesName } from "./match-name.js";
import { httpUrl, wholeNumber } from "./parse-option.js";
import { reportResults } from "./report-results.js";
import { runDeliveries } from "./run-deliveries.js";
import { addSecretOptions, readSecrets, type SecretOptions } from "./secrets.js";

interface ReplayOptions extends SecretOptions {
  url: URL;
  only?: string;
  asIs?: true;
  concurrency: number;
  timeout: number;
  json?: true;
}

export function addReplayCommand(program: Command, context: CommandContext): void {
  const command = program
    .command("replay")
    .description("Send every fixture event and every case of deliveries.json, and compare each answer.")
    .argument("[dir]", "a folder of events (*.json), with or without a deliveries.json (default: those of the package)")
    .requiredOption("--url <url>", "where the receiver listens", httpUrl);
  addSecretOptions(command)
    .option("--only <pattern>", "names that contain this, or match it where it has a *")
    .option("--as-is", "do not give events a new id and new times; a known id may then be answered as a duplicate")
    .option("--concurrency <n>", "cases at a time", wholeNumber(1, 256), 1)
    .option("--timeout <seconds>", "how long to wait for an answer", wholeNumber(1, 3600), 15)
    .option("--json", "print NDJSON");
  withExamples(command, [
    ["signalbox replay --url http://localhost:3000/webhooks/signals", "Everything, at a receiver on this machine"],
    ["signalbox replay --url http://localhost:3000/webhooks/signals --only 'signals/price_*'", "Some of it"],
    ["signalbox replay ./captured --url http://localhost:3000/webhooks/signals", "Events of your own"],
  ]);
  runs(command, context, (folder: string | undefined, options: ReplayOptions) => replay(folder, options, context));
}

async function replay(folder: string | undefined, options: ReplayOptions, { cli }: CommandContext): Promise<ExitCode> {
  const { url, only, asIs = false, concurrency, timeout, json = false } = options;
  const [secret] = readSecrets(options, cli);
  const { events, deliveries: all } = readFixtureFolder(folder ?? PACKAGED_FIXTURES);
  const deliveries = only === undefined ? all : all.filter(({ name }) => matchesName(name, only));
  if (deliveries.length === 0) throw usageError(`--only ${only}: no name matches; try --only price`);

  const report = reportResults(cli.terminal, deliveries, json);
  const timeoutMs = timeout * 1000;
  const { signal } = cli;
  await runDeliveries({ url, secret, deliveries, events, asIs, concurrency, timeoutMs, signal, onResult: report.add });
  report.summarise();
  return report.failed.length === 0 ? EXIT.ok : EXIT.failed;
}
