import type { Command } from "#commander";
import { runs, type CommandContext } from "../console/define-command.js";
import { EXIT, usageError } from "../console/exit.js";
import {
  collect,
  httpUrl,
  notEmpty,
  selectByName,
  wholeNumber,
  readDotenv,
  receiverAddress,
  readSecrets,
  SECRET,
  SECRET_FILE,
} from "../console/options.js";
import { someNames } from "../console/terminal.js";
import { isQuarantined } from "./send-delivery.js";

const EXAMPLE = "npx signalbox replay --url http://localhost:3000/webhooks/signals";
const CLEAN_UP = "npx signalbox inbox discard --state quarantined --yes --db INBOX";

export function addCommand(program: Command, context: CommandContext): void {
  const command = program
    .command("replay")
    .description(
      "Send every fixture and hostile delivery; compare the answers. The receiver treats the events as real: its " +
        "onSignal gets made-up signals, and unusable events stay in its quarantine.",
    )
    .argument(
      "[dir]",
      "a folder of events (*.json), also with a deliveries.json (default: the package's fixtures)",
    )
    .option(
      "--url <url>",
      "the address of the receiver (with --dotenv the default is http://localhost:PORT)",
      httpUrl,
    )
    .option(
      "--dotenv <file>",
      "a file with variables such as PORT; variables that are set win",
      notEmpty,
    )
    .addOption(SECRET)
    .addOption(SECRET_FILE)
    .option(
      "--only <pattern>",
      "only cases whose name contains this, or matches it with a *",
      notEmpty,
    )
    .option("--skip <pattern>", "leave out such cases (repeatable)", collect)
    .option("--as-is", "keep the ids and times of the events; known ids are duplicates")
    .option("--concurrency <n>", "how many cases to send at a time", wholeNumber(1, 256), 1)
    .option("--timeout <seconds>", "how long to wait for an answer", wholeNumber(1, 3600), 15)
    .option("--json", "print NDJSON");
  runs(command, context, async (folder, options, { cli }) => {
    const { only, skip = [], dotenv, asIs = false, concurrency, timeout, json = false } = options;
    const env = dotenv === undefined ? cli.env : readDotenv(dotenv, cli.env);
    if (options.url === undefined && dotenv === undefined) {
      throw usageError(
        `required option '--url <url>' not specified; type for example \`${EXAMPLE}\``,
      );
    }
    const url = options.url ?? receiverAddress(env);
    const secrets = readSecrets(options, { env });
    const { readFixtureFolder } = await import("./fixture-folder.js");
    const { failedNames, replayDeliveries } = await import("./send-cases.js");
    const { events, deliveries: all } = readFixtureFolder(folder);
    const patterns = { ...(only !== undefined && { only: [only] }), skip };
    const deliveries = selectByName(all, ({ name }) => name, patterns, "price");
    const startedAt = performance.now();
    const target = { url, secrets, events, timeoutMs: timeout * 1000, signal: cli.signal };
    const rows = json ? "json" : "all";
    const results = await replayDeliveries(
      target,
      deliveries,
      { asIs, concurrency, rows },
      cli.terminal,
    );
    const failed = failedNames(results);
    const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
    const ok = failed.length === 0;
    const total = results.length;
    const { note, paint, print, printJson } = cli.terminal;
    if (json) printJson({ summary: { ok, total, failed, seconds } });
    else if (ok) print(paint.green(`all ${total} answers as expected, in ${seconds} s`));
    else
      print(
        paint.red(`${failed.length} of ${total} answers not as expected: ${someNames(failed)}`),
      );
    if (failed.length > total / 2) {
      note(
        "most answers are wrong: `npx signalbox doctor --url` with the same address finds the cause",
      );
    }
    if (results.some(({ answer }) => isQuarantined(answer))) {
      note(`unusable events stay in the receiver's quarantine; to clean up:\n  $ ${CLEAN_UP}`);
    }
    return ok ? EXIT.ok : EXIT.failed;
  });
}
