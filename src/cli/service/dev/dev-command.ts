import { existsSync } from "node:fs";
import type { Command } from "#commander";
import { runs, type CommandContext } from "../../console/define-command.js";
import {
  httpUrl,
  notEmpty,
  wholeNumber,
  readDotenv,
  receiverAddress,
} from "../../console/options.js";
import { DEFAULT_INBOX, findInbox, SCHEMA } from "../../inbox/open-inbox.js";
import { DEFAULT_EMULATOR_URL } from "../emulator/remote-control.js";

export function addCommand(program: Command, context: CommandContext): void {
  const command = program
    .command("dev")
    .description(
      "Run the service on this machine for the receiver you develop: register it for all signal types, follow " +
        "products, publish signals, and print a line for each signal and delivery.",
    )
    .argument("[command...]", "a command that starts the receiver; it is stopped at the end")
    .option(
      "--url <url>",
      "the receiver's address (default: http://localhost:3000/webhooks/signals, or with the PORT that is set or in .env)",
      httpUrl,
    )
    .option(
      "--secret-file <file>",
      "the file that the receiver reads its secrets from",
      notEmpty,
      "signals.secret",
    )
    .option(
      "--db <inbox>",
      `the receiver's inbox, a file or postgres://…, for the dashboard (default: SIGNALBOX_DB, otherwise ${DEFAULT_INBOX})`,
      notEmpty,
    )
    .addOption(SCHEMA)
    .option(
      "--port <n>",
      `the port of the service (default: ${new URL(DEFAULT_EMULATOR_URL).port}, or a free one)`,
      wholeNumber(0, 65_535),
    )
    .option(
      "--seed <n>",
      "generate different data; the same number gives the same data",
      wholeNumber(0),
    )
    .option("--json", "print NDJSON");
  runs(command, context, async (words, options) => {
    const { runDev } = await import("./run-dev.js");
    const { env } = context.cli;
    const url = options.url ?? receiverAddress(existsSync(".env") ? readDotenv(".env", env) : env);
    const db = findInbox(options.db, context.cli) ?? DEFAULT_INBOX;
    return runDev({ ...options, db, url, command: words }, context);
  });
}
