import type { Command } from "#commander";
import {
  runs,
  withExamples,
  type CommandContext,
  type OptionsOf,
} from "../../console/define-command.js";
import { CliError, EXIT, type ExitCode } from "../../console/exit.js";
import {
  collect,
  httpUrl,
  notEmpty,
  numberOf,
  selectByName,
  wholeNumber,
} from "../../console/parse-option.js";
import { readSecrets, SECRET, SECRET_FILE } from "../../console/secrets.js";
import { createCheckContext, type Check, type CheckResult } from "./check-context.js";
import { CHECKS } from "./checks.js";
import { acknowledgementTimes } from "./observations.js";
import {
  isGood,
  receiverClockOffset,
  reportAsJson,
  reportAsText,
  summarise,
} from "./report-checks.js";
import { reasonNotToCheck, runChecks } from "./run-checks.js";

export function addCheckCommand(program: Command, context: CommandContext) {
  const command = program
    .command("check")
    .description(
      "Check any receiver, in any language, against the service's document. " +
        "It sends about 60 made-up signals, which the receiver treats as real.",
    )
    .argument("<url>", "the address of the receiver", httpUrl)
    .addOption(SECRET)
    .addOption(SECRET_FILE)
    .option(
      "--only <pattern>",
      "only checks whose id contains this, or matches it with a * (repeatable)",
      collect,
    )
    .option("--skip <pattern>", "leave out such checks (repeatable)", collect)
    .option("--strict", "exit 1 also if an advised check failed or a required one was skipped")
    .option(
      "--restart-command <shell>",
      "a command that restarts the receiver, for dedupe.restart",
      notEmpty,
    )
    .option(
      "--restart-timeout <seconds>",
      "how long the restart may take",
      wholeNumber(1, 3600),
      60,
    )
    .option(
      "--ack-limit <seconds>",
      "the longest acknowledgement that answers.time allows",
      numberOf(0),
      3,
    )
    .option(
      "--concurrency <n>",
      "how many cases of a check to send at a time",
      wholeNumber(1, 256),
      1,
    )
    .option("--timeout <seconds>", "how long to wait for an answer", wholeNumber(1, 3600), 15)
    .option("--json", "print NDJSON");
  const url = "http://localhost:3000/webhooks/signals";
  withExamples(command, [
    [`signalbox check ${url}`, "Run all checks against a receiver on this machine"],
    [
      `signalbox check ${url} --only signature. --only age.`,
      "Run only the checks of signatures and ages",
    ],
    [
      `signalbox check ${url} --restart-command 'docker restart -t 5 inbox'`,
      "Also see whether ids survive a restart",
    ],
    [`signalbox check ${url} --strict --json`, "Run all checks on a build server"],
  ]);
  command.addHelpText(
    "after",
    `\nRequired checks:\n${idsOf("required")}\n\nAdvised checks:\n${idsOf("advised")}`,
  );
  runs(command, context, check);
  return command;
}

type CheckOptions = OptionsOf<typeof addCheckCommand>;

function idsOf(kind: Check["kind"]): string {
  const ids = CHECKS.filter((each) => each.kind === kind).map(({ id }) => id);
  return `  ${ids.join(", ")}`;
}

async function check(url: URL, options: CheckOptions, { cli }: CommandContext): Promise<ExitCode> {
  const { strict = false, json = false } = options;
  const checks = selectByName(CHECKS, ({ id }) => id, options, "signature");
  const { readFixtureFolder } = await import("../../deliveries/cases.js");
  const context = createCheckContext({
    url,
    secrets: readSecrets(options, cli),
    fixtures: readFixtureFolder(),
    concurrency: options.concurrency,
    timeoutMs: options.timeout * 1000,
    ackLimitMs: options.ackLimit * 1000,
    restartCommand: options.restartCommand,
    restartTimeoutMs: options.restartTimeout * 1000,
    env: cli.env,
    signal: cli.signal,
  });
  const results: CheckResult[] = [];
  const report = json
    ? reportAsJson(cli.terminal, strict)
    : reportAsText(cli.terminal, checks.length);
  let stoppedBy: string | null = null;
  try {
    const reason = await reasonNotToCheck(context);
    if (reason !== null) throw new CliError(EXIT.failed, reason);
    await runChecks(checks, context, (result) => {
      results.push(result);
      report.add(result);
    });
  } catch (error) {
    stoppedBy = (error as Error).message;
    throw error;
  } finally {
    if (!cli.signal.aborted && (results.length > 0 || json)) {
      const summary = summarise(results);
      const ok = stoppedBy === null && isGood(summary, strict);
      const times = acknowledgementTimes(context.exchanges);
      report.finish({
        summary,
        ok,
        times,
        clockOffsetMs: receiverClockOffset(context.exchanges),
        stoppedBy,
      });
    }
  }
  return isGood(summarise(results), strict) ? EXIT.ok : EXIT.failed;
}
