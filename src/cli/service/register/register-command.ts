import { Option, type Command } from "#commander";
import { SIGNAL_TYPES } from "../../../kit/senders/signals/signal-types.js";
import { LIMITS } from "../../../service/contract/limits.js";
import type { ServiceLocale } from "../../../service/contract/shared-schemas.js";
import { runs, type CommandContext } from "../../console/define-command.js";
import {
  collect,
  httpUrl,
  notEmpty,
  wholeNumber,
  DEFAULT_SECRET_FILE,
} from "../../console/options.js";

// Not imported from the contract, because that import would load zod and make the start slower.
const LOCALES: readonly ServiceLocale[] = ["en", "zh-CN"];
const EXIT_CODES =
  "Exit codes: 0 registered, secrets stored, and the receiver answers verifications; 1 registered, but the receiver does\n" +
  "not; 2 wrong usage, or the service answered 400; 3 another answer (401, 403, 404, 409, 429, 500, 503), no answer, or\n" +
  "a secret file that cannot be written; 130 interrupted.";

export function addCommand(program: Command, context: CommandContext): void {
  const command = program
    .command("register")
    .description(
      "Register a receiver at the service: store the signing secret, which the service shows once, in a file that the " +
        `receiver reads (\`secretFile\`). Then wait until the registration is active. A registration has at most ${LIMITS.typesPerRegistration} signal types. For more types several ` +
        "registrations are made, each with its own secret.",
    )
    .requiredOption(
      "--url <url>",
      "the receiver's public address, which the service calls",
      address,
    )
    .addOption(
      new Option("--types <list>", "signal types, separated by commas (repeatable)")
        .argParser(collect)
        .conflicts("allTypes"),
    )
    .option("--all-types", `all ${SIGNAL_TYPES.length} signal types`)
    .addOption(
      new Option("--locale <locale>", "the language of the signals").choices(LOCALES).default("en"),
    )
    .option(
      "--secret-file <file>",
      "the file to add the secrets to, one per line",
      notEmpty,
      DEFAULT_SECRET_FILE,
    )
    .option(
      "--base-url <url>",
      "the service's API, such as https://api.example/v1; or set SIGNALS_BASE_URL",
      notEmpty,
    )
    .option("--api-key <key>", "the API key; other users see it in the process list", notEmpty)
    .option("--api-key-file <file>", "a file with the API key; or set SIGNALS_API_KEY", notEmpty)
    .option("--dotenv <file>", "a file with such variables; variables that are set win", notEmpty)
    .option(
      "--timeout <seconds>",
      "how long to wait for an answer, then the verification",
      wholeNumber(1, 50),
      30,
    )
    .option("--json", "print NDJSON");
  command.addHelpText("after", `\n${EXIT_CODES}\n\nSignal types:\n  ${SIGNAL_TYPES.join(", ")}`);
  runs(command, context, async (...given) =>
    (await import("./register-webhooks.js")).registerWebhooks(...given),
  );
}

/** Refuses a text that is not an address. The service decides which addresses it accepts. */
function address(text: string): string {
  httpUrl(text);
  return text;
}
