import { Option, type Command } from "#commander";
import type { Reading } from "../../kit/senders/engine/sender.js";
import { DEFAULT_TOLERANCE_SECONDS } from "../../kit/senders/signature/verify.js";
import { runs, type CommandContext } from "../console/define-command.js";
import { EXIT } from "../console/exit.js";
import { wholeNumber, readInput, readSecrets, SECRET, SECRET_FILE } from "../console/options.js";
import { headersOf, PUBLIC_URL, SENDER, senderOf } from "../console/sender.js";
import { printable, type Terminal } from "../console/terminal.js";
import type { Explanation } from "./explain-delivery.js";

export function addCommand(program: Command, context: CommandContext): void {
  const command = program
    .command("verify")
    .description(
      "Check a signature over the exact bytes of a file; if it is not valid, print the likely cause.",
    )
    .argument("<file>", "the body as received, or - for stdin")
    .addOption(
      new Option(
        "-H, --header <header>",
        "the signature header: its value, or the whole line; with --sender each of its headers",
      )
        .argParser((value, before: readonly string[] | undefined) => [...(before ?? []), value])
        .makeOptionMandatory(),
    )
    .addOption(SECRET)
    .addOption(SECRET_FILE)
    .addOption(SENDER)
    .addOption(PUBLIC_URL)
    .option(
      "--now <seconds>",
      "the Unix time of the check (default: now)",
      wholeNumber(0, 999_999_999_999),
    )
    .option(
      "--tolerance <seconds>",
      `the maximum age of the signature (default: ${DEFAULT_TOLERANCE_SECONDS}, or the sender's)`,
      wholeNumber(1),
    )
    .option("--json", "print NDJSON");
  runs(command, context, async (file, options, { cli }) => {
    const secrets = readSecrets(options, cli);
    const sender = await senderOf(options, secrets[0]);
    const { explainDelivery } = await import("./explain-delivery.js");
    const explanation = explainDelivery({
      sender,
      headers: headersOf(options.header ?? [], sender),
      body: await readInput(file, cli),
      secrets,
      toleranceSeconds:
        options.tolerance ?? sender.limits.toleranceSeconds ?? DEFAULT_TOLERANCE_SECONDS,
      nowSeconds: options.now ?? Math.floor(Date.now() / 1000),
      url: options.publicUrl,
    });
    if (options.json) cli.terminal.printJson(explanation);
    else
      for (const line of linesOf(explanation, secrets.length, cli.terminal))
        cli.terminal.print(line);
    return explanation.valid ? EXIT.ok : EXIT.failed;
  });
}

function readingLine(reading: Reading): string {
  if (reading.kind === "unusable") return `  quarantined: ${reading.reason}`;
  return `  event ${printable(reading.id ?? "with the hash of its body as id")}, type ${printable(reading.type)}`;
}

function linesOf(explanation: Explanation, secretCount: number, { paint }: Terminal): string[] {
  if (explanation.valid) {
    const { ageSeconds, secretIndex, reading } = explanation;
    const age =
      ageSeconds === null
        ? "by its sender, without a time"
        : ageSeconds < 0
          ? `${-ageSeconds} s in the future`
          : `${ageSeconds} s ago`;
    const which = secretCount > 1 ? `, with secret ${secretIndex + 1} of ${secretCount}` : "";
    return [
      `${paint.green("valid")}: signed ${age}${which}`,
      ...(reading === undefined ? [] : [readingLine(reading)]),
    ];
  }
  const { reason, causes, possibleCauses } = explanation;
  const others = "  none of the usual mistakes explains this; other possible causes:";
  return [
    `${paint.red("not valid")}: ${reason}`,
    ...causes.map((cause) => `  ${cause}`),
    ...(possibleCauses.length === 0
      ? []
      : [others, ...possibleCauses.map((cause) => `  - ${cause}`)]),
  ];
}
