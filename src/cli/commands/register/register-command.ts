import { Option, type Command } from "commander";
import type { ServiceLocale } from "../../../api/locale.js";
import { SIGNAL_TYPES } from "../../../events/signal-types.js";
import { addServiceOptions } from "../../options/api-key.js";
import { runs, withExamples, type CommandContext } from "../../options/define-command.js";
import { collect, httpUrl, notBlank, wholeNumber } from "../../options/parse-option.js";
import type { RegisterOptions } from "./register-webhooks.js";
import { MOST_SIGNAL_TYPES } from "./signal-type-list.js";

// Not imported from the contract, which loads the schemas of all answers.
const LOCALES: readonly ServiceLocale[] = ["en", "zh-CN"];
const DEFAULT_SECRET_FILE = "signals.secret";
const EXIT_CODES =
  "Exit codes: 0 registered and the secrets kept, 2 wrong usage or refused as such (400), 3 refused otherwise\n" +
  "(401, 403, 404, 409, 429, 500, 503), no answer, or a secret file that cannot be written, 130 interrupted.";
const URL = "https://hooks.example/webhooks/signals";

export function addRegisterCommand(program: Command, context: CommandContext): void {
  const command = program
    .command("register")
    .description(
      "Register a receiver at the service, and keep the signing secret, which is shown once, in a file that the receiver " +
        `reads (\`secretFile\`). One registration takes ${MOST_SIGNAL_TYPES} signal types: for more there are several, each with ` +
        "a secret of its own.",
    )
    .requiredOption("--url <url>", "the receiver's public address, as the service is to call it", address)
    .addOption(
      new Option("--types <list>", "signal types, with commas between; repeatable")
        .argParser(collect)
        .conflicts("allTypes"),
    )
    .option("--all-types", `all ${SIGNAL_TYPES.length} signal types`)
    .addOption(new Option("--locale <locale>", "the language of the signals").choices(LOCALES).default("en"))
    .option(
      "--secret-file <file>",
      "where the secrets are added, one a line, mode 0600",
      notBlank,
      DEFAULT_SECRET_FILE,
    );
  addServiceOptions(command)
    .option("--timeout <seconds>", "how long to wait for an answer", wholeNumber(1, 50), 30)
    .option("--json", "print NDJSON");
  withExamples(command, [
    [`signalbox register --url ${URL} --all-types`, "All signals: two registrations"],
    [`signalbox register --url ${URL} --types price_increased,price_decreased`, "Some of them"],
    [`signalbox register --url ${URL} --all-types --secret-file app.secret`, "Secrets in another file"],
  ]).addHelpText("after", `\n${EXIT_CODES}\n\nSignal types:\n${inLines(SIGNAL_TYPES)}`);
  runs(command, context, async (options: RegisterOptions) => {
    // The other commands start faster without the client.
    const { registerWebhooks } = await import("./register-webhooks.js");
    return registerWebhooks(options, context);
  });
}

/** The text as it was typed, if it is an address. The service decides which addresses it takes. */
function address(text: string): string {
  httpUrl(text);
  return text;
}

function inLines(names: readonly string[]): string {
  const lines: string[] = [];
  for (const name of names) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + name.length < 110) lines[lines.length - 1] = `${line}, ${name}`;
    else lines.push(`  ${name}`);
  }
  return lines.join(",\n");
}
