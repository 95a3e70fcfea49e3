import { rm } from "node:fs/promises";
import type { Command } from "#commander";
import { runs, withExamples, type CommandContext } from "../../console/define-command.js";
import { EXIT } from "../../console/exit.js";
import { someNames } from "../../console/terminal.js";

export function addDemoCommand(program: Command, context: CommandContext): void {
  const command = program
    .command("demo")
    .description(
      "Show the service and a receiver at work on this machine. A month passes and signals arrive; then every fixture and " +
        "hostile delivery is sent to the receiver.",
    )
    .option("--verbose", "print a line for each delivery of the fixtures")
    .option("--keep", "keep the inbox's file and print its path")
    .option("--json", "print NDJSON, with a line for each delivery");
  withExamples(command, [
    ["signalbox demo", "Run the demo; it needs no configuration and deletes its files"],
    ["signalbox demo --keep", "Keep the inbox, to look into it"],
  ]);
  runs(command, context, async ({ keep, json, verbose }, { cli }) => {
    const { terminal, signal } = cli;
    const { bold, green, red } = terminal.paint;
    const startedAt = performance.now();
    const failed: string[] = [];
    const { replayFixtures, reportSteps, runScenario } = await import("./demo-steps.js");
    const report = reportSteps(terminal, json ?? false, failed);
    const { startDemoReceiver } = await import("./demo-receiver.js");
    const receiver = await startDemoReceiver();
    try {
      if (!json) terminal.print(bold("A month with the service"));
      const secret = await runScenario(receiver, report, signal);
      if (!json) terminal.print(bold("\nDeliveries of the fixtures, good and hostile"));
      const rows = json ? "json" : verbose ? "all" : "failed";
      failed.push(...(await replayFixtures(receiver, { secret, rows }, report, cli)));
    } finally {
      await receiver.close();
      if (!keep) await rm(receiver.folder, { recursive: true, force: true });
    }
    const ok = failed.length === 0;
    const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
    if (json)
      terminal.printJson({
        summary: { ok, failed, seconds, ...(keep && { path: receiver.path }) },
      });
    else {
      if (keep) terminal.print(`\nThe inbox is ${receiver.path}`);
      terminal.print(
        `\n${ok ? green(`The demo passed in ${seconds} s.`) : red(`The demo FAILED: ${someNames(failed)}`)}`,
      );
      terminal.note(
        "Next:\n  $ npx signalbox init ../my-receiver\n  $ cd ../my-receiver\n  $ npm run dev",
      );
    }
    return ok ? EXIT.ok : EXIT.failed;
  });
}
