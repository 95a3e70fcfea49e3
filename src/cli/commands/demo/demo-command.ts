import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import type { Command } from "commander";
import type { Cli } from "../../console/cli.js";
import { createCaseSender, sendCases } from "../../deliveries/send-cases.js";
import { runs, throwIfInterrupted, withExamples, type CommandContext } from "../../options/define-command.js";
import { EXIT, type ExitCode } from "../../options/exit.js";
import type { DemoReceiver } from "./demo-receiver.js";

interface DemoOptions {
  keep?: true;
  json?: boolean;
  verbose?: true;
}

export function addDemoCommand(program: Command, context: CommandContext): void {
  const command = program
    .command("demo")
    .description(
      "Send every fixture and hostile delivery to a receiver on a free port, and show each answer. Then run the service " +
        "with a receiver: it registers, a month passes, and signals arrive.",
    )
    .option("--keep", "keep the inbox's file and print its path")
    .option("--json", "print NDJSON")
    .option("--verbose", "print the receiver's log on stderr");
  withExamples(command, [
    ["signalbox demo", "Run the demo; it needs no configuration and deletes its files"],
    ["signalbox demo --keep", "Run the demo and keep the inbox, to inspect it with `npx signalbox inbox`"],
    ["signalbox demo --json | grep '\"ok\":false'", "Print only the steps that failed"],
  ]);
  runs(command, context, (options: DemoOptions) => demo(options, context.cli));
}

async function demo(options: DemoOptions, cli: Cli): Promise<ExitCode> {
  const areAnswersExpected = await replayFixtures(options, cli);
  const { runScenario } = await import("./run-scenario.js");
  const isScenarioOk = await runScenario(options, cli);
  return areAnswersExpected && isScenarioOk ? EXIT.ok : EXIT.failed;
}

/** @returns whether all answers and hand-offs were as expected */
async function replayFixtures(options: DemoOptions, cli: Cli): Promise<boolean> {
  const { terminal, signal } = cli;
  // Imported here, so that other commands and --help start faster.
  const { readFixtureFolder } = await import("../../deliveries/fixture-folder.js");
  const { reportResults } = await import("../../deliveries/report-results.js");
  const { startDemoReceiver } = await import("./demo-receiver.js");
  const { deliveries, events } = readFixtureFolder();
  const secret = `whsec_${randomBytes(24).toString("base64url")}`;
  const receiver = await startDemoReceiver({ verbose: options.verbose ?? false, secrets: () => secret });
  const report = reportResults(terminal, deliveries, options.json ?? false);
  let isHandedOff = false;
  try {
    terminal.note(terminal.notePaint.dim(`A receiver in an Express app listens on ${receiver.url.href}`));
    const target = { url: receiver.url, secret, events, timeoutMs: 15_000, signal };
    const cases = deliveries.map((what) => ({ what, wanted: "exact" }) as const);
    await sendCases(cases, 1, createCaseSender(target, { asIs: false }), report.add);
    const { signals, tests } = report.accepted;
    isHandedOff = await showOutcome(receiver, signals + tests, options, cli);
  } finally {
    await receiver.close();
    if (options.keep) {
      if (options.json) terminal.printJson({ path: receiver.path });
      else terminal.print(`${terminal.paint.bold("file")}       ${receiver.path}`);
    } else await rm(receiver.folder, { recursive: true, force: true });
  }
  report.summarise();
  return isHandedOff && report.failed.length === 0;
}

/** Prints the number of events in each state, and the number of calls of the callback. */
async function showOutcome(
  receiver: DemoReceiver,
  expectedHandoffs: number,
  { json = false }: DemoOptions,
  { terminal, signal }: Cli,
): Promise<boolean> {
  const { handoffs, events, inbox } = await receiver.settle(expectedHandoffs, signal);
  throwIfInterrupted(signal);
  const isOk = handoffs === expectedHandoffs && events === expectedHandoffs;
  if (json) {
    terminal.printJson({ inbox });
    terminal.printJson({ handedOff: { handoffs, events, expected: expectedHandoffs, ok: isOk } });
    return isOk;
  }
  const { paint } = terminal;
  const counts = Object.entries(inbox).map(([state, count]) => `${count} ${state}`);
  terminal.print("");
  terminal.print(`${paint.bold("inbox")}      ${counts.join(", ")}`);
  const once = handoffs === events ? "each exactly once" : paint.red(`${handoffs - events} of them repeated`);
  const verdict = isOk ? paint.green("ok") : paint.red(`FAILED: ${expectedHandoffs} were expected`);
  terminal.print(`${paint.bold("callback")}   ${handoffs} hand-offs of ${events} events, ${once}  ${verdict}`);
  return isOk;
}
