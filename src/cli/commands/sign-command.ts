import { Option, type Command } from "#commander";
import { SIGNATURE_HEADER } from "../../signature/header.js";
import { signBody } from "../../signature/sign.js";
import { runs, withExamples, type CommandContext } from "../options/define-command.js";
import { usageError } from "../options/exit.js";
import { httpUrl, wholeNumber } from "../options/parse-option.js";
import { readInput } from "../options/read-input.js";
import { readSecrets, SECRET, SECRET_FILE } from "../options/secrets.js";
import { shellQuote } from "../console/shell-quote.js";

const DEFAULT_URL = "http://localhost:3000/webhooks/signals";

export function addSignCommand(program: Command, context: CommandContext): void {
  const command = program
    .command("sign")
    .description("Print the signature header for the exact bytes of a file.")
    .argument("<file>", "the body, or - for stdin")
    .addOption(SECRET)
    .addOption(SECRET_FILE)
    .option("--timestamp <seconds>", "Unix time of signing (default: now)", wholeNumber(0, 999_999_999_999))
    .addOption(new Option("--value", "print only the value of the header").conflicts(["curl", "json"]))
    .addOption(new Option("--curl", "print a curl command that sends the body with the header").conflicts("json"))
    .option("--url <url>", `with --curl: the address of the receiver (default: ${DEFAULT_URL})`, httpUrl)
    .option("--json", "print NDJSON");
  withExamples(command, [
    ["signalbox sign event.json", "Print the header in the form of `curl -H`"],
    [
      'curl -H "$(signalbox sign event.json)" --data-binary @event.json http://localhost:3000/webhooks/signals',
      "Sign a file and send it",
    ],
    ["signalbox sign event.json --curl", "Print a curl command that does both"],
    ["cat event.json | signalbox sign - --value", "Sign stdin, and print only the value of the header"],
  ]);
  runs(command, context, async (file, options, { cli }) => {
    if (options.url !== undefined && options.curl === undefined) throw usageError("--url needs --curl");
    const [secret] = readSecrets(options, cli);
    const body = await readInput(file, cli);
    const timestamp = options.timestamp ?? Math.floor(Date.now() / 1000);
    const value = signBody({ body, secret, timestamp });
    const line = `${SIGNATURE_HEADER}: ${value}`;
    if (options.json) cli.terminal.printJson({ header: SIGNATURE_HEADER, value, timestamp });
    else {
      const text = options.curl
        ? curlCommand(file, line, options.url?.href ?? DEFAULT_URL)
        : options.value
          ? value
          : line;
      // Not broken at the edge of a terminal, so that it can be copied.
      await cli.terminal.write(`${text}\n`);
    }
  });
}

function curlCommand(file: string, headerLine: string, url: string): string {
  // `--data-binary`, because `--data` would remove line ends, and the signature would not match the body.
  return [
    `curl -X POST ${shellQuote(url)}`,
    "-H 'Content-Type: application/json'",
    `-H ${shellQuote(headerLine)}`,
    `--data-binary ${shellQuote(`@${file}`)}`,
  ].join(" \\\n  ");
}
