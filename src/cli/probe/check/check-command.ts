import type { Command } from "#commander";
import { runs, type CommandContext, type OptionsOf } from "../../console/define-command.js";
import { CliError, EXIT, type ExitCode } from "../../console/exit.js";
import {
  collect,
  httpUrl,
  notEmpty,
  numberOf,
  selectByName,
  wholeNumber,
  readSecrets,
  SECRET,
  SECRET_FILE,
} from "../../console/options.js";
import { isJsonObject } from "../../deliveries/event-source.js";
import { sendCases } from "../../deliveries/send-cases.js";
import {
  describeAnswer,
  isSuccess,
  type Expectation,
  type Wanted,
  sendDelivery,
} from "../../deliveries/send-delivery.js";
import { runSteps } from "../run-steps.js";
import {
  createCheckContext,
  type Check,
  type CheckResult,
  probeOf,
  type CheckContext,
  type Observation,
  type Probe,
} from "./check-context.js";
import { CHECKS } from "./checks.js";
import { acknowledgementTimes } from "./observations.js";
import {
  isGood,
  receiverClockOffset,
  reportAsJson,
  reportAsText,
  summarise,
} from "./report-checks.js";

export function addCommand(program: Command, context: CommandContext) {
  const command = program
    .command("check")
    .description(
      "Check any receiver, in any language: compare it with the service's document. " +
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
  command.addHelpText(
    "after",
    `\nRequired checks:\n${idsOf("required")}\n\nAdvised checks:\n${idsOf("advised")}`,
  );
  runs(command, context, checkReceiver);
  return command;
}

type CheckOptions = OptionsOf<typeof addCommand>;

function idsOf(kind: Check["kind"]): string {
  const ids = CHECKS.filter((each) => each.kind === kind).map(({ id }) => id);
  return `  ${ids.join(", ")}`;
}

async function checkReceiver(
  url: URL,
  options: CheckOptions,
  { cli }: CommandContext,
): Promise<ExitCode> {
  const { strict = false, json = false } = options;
  const checks = selectByName(CHECKS, ({ id }) => id, options, "signature");
  const { readFixtureFolder } = await import("../../deliveries/fixture-folder.js");
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

/**
 * One after the other. @throws CliError when the receiver cannot be reached, or a command that the
 * user gave fails
 */
function runChecks(
  checks: readonly Check[],
  context: CheckContext,
  onResult: (result: CheckResult) => void,
): Promise<CheckResult[]> {
  return runSteps(
    checks,
    async (check, cause) => {
      const startedAt = performance.now();
      const observation =
        cause === undefined
          ? await (check.run?.(context) ?? runCases(check, context))
          : { probes: [], inconclusive: `skipped because ${cause} failed` };
      const result = judge(check, observation, (performance.now() - startedAt) / 1000);
      return [result, result.outcome === "failed" ? check.id : null];
    },
    onResult,
  );
}

function judge(
  { id, kind, title, hint }: Check,
  { probes, inconclusive, ...note }: Observation,
  seconds: number,
): CheckResult {
  const result = { id, kind, title, hint, ...note, probes, seconds };
  if (probes.some(({ ok }) => !ok)) return { ...result, outcome: "failed" };
  if (inconclusive !== undefined) return { ...result, outcome: "skipped", reason: inconclusive };
  return { ...result, outcome: "passed" };
}

async function runCases(
  { id, events = [] }: Check,
  { fixtures, build, send, concurrency }: CheckContext,
): Promise<Observation> {
  const probes: Probe[] = [];
  const cases = fixtures.deliveries
    .filter(({ name, check }) => check === id || events.includes(name))
    .map(({ name }) => build(name));
  await sendCases(cases, concurrency, send, (exchange) =>
    probes.push(probeOf(exchange, wantedOf(exchange.delivery.expect))),
  );
  return { probes };
}

/**
 * What any receiver must answer to a case. The error code and the body in a case are those of
 * signalbox's own receiver, so they are not compared. The service's document requires only a 2xx, a
 * refusal or the challenge.
 */
function wantedOf({ status, body }: Expectation): Wanted {
  if (status === 401) return "refused";
  if (status !== 200) return "status";
  return isJsonObject(body) && "challenge" in body ? "challenge" : "accepted";
}

/**
 * Authentic deliveries of different types. A receiver does not store the first. If it accepts that
 * one, the others are not sent.
 */
const AUTHENTIC = ["verification", "repeated-test-event", "new-signal"];

/**
 * Why this receiver is not checked: it answers every authentic delivery with a status other than
 * 2xx. Usually the receiver has another secret, or a parser reads the body first. Such a receiver
 * would pass each check that expects a refusal, and the hints of all other checks would mislead.
 * `null` for any other receiver.
 */
async function reasonNotToCheck(context: CheckContext): Promise<string | null> {
  let last = "";
  for (const name of AUTHENTIC) {
    const answer = await sendDelivery(context, context.build(name).build(0));
    if (answer.kind !== "answer" || isSuccess(answer)) return null;
    last = describeAnswer(answer, false);
  }
  return (
    `the receiver acknowledges no authentic delivery (${last}), so nothing was checked. To find the cause, run ` +
    "`npx signalbox doctor --url` with the same address, or read the receiver's log"
  );
}
