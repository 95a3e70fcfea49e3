import { Option, type Command } from "#commander";
import { SIGNATURE_HEADER } from "../../kit/senders/signature/header.js";
import { signBody } from "../../kit/senders/signature/sign.js";
import { runs, type CommandContext } from "../console/define-command.js";
import { usageError } from "../console/exit.js";
import {
  httpUrl,
  wholeNumber,
  readInput,
  readSecrets,
  SECRET,
  SECRET_FILE,
} from "../console/options.js";
import { headersForFile, PUBLIC_URL, SENDER, SENDER_HEADER, senderOf } from "../console/sender.js";
import { shellQuote } from "../console/terminal.js";

const DEFAULT_URL = "http://localhost:3000/webhooks/";

export function addCommand(program: Command, context: CommandContext): void {
  const command = program
    .command("sign")
    .description("Print the signature header for the exact bytes of a file.")
    .argument("<file>", "the body, or - for stdin")
    .addOption(SECRET)
    .addOption(SECRET_FILE)
    .addOption(SENDER)
    .addOption(SENDER_HEADER)
    .addOption(PUBLIC_URL)
    .option(
      "--timestamp <seconds>",
      "Unix time of signing (default: now)",
      wholeNumber(0, 999_999_999_999),
    )
    .addOption(
      new Option("--value", "print only the value of the header").conflicts(["curl", "json"]),
    )
    .addOption(
      new Option("--curl", "print a curl command that sends the body with the header").conflicts(
        "json",
      ),
    )
    .option(
      "--url <url>",
      `with --curl: the address of the receiver (default: ${DEFAULT_URL}signals)`,
      httpUrl,
    )
    .option("--json", "print NDJSON");
  runs(command, context, async (file, options, { cli }) => {
    if (options.url !== undefined && options.curl === undefined)
      throw usageError("--url needs --curl");
    const [secret] = readSecrets(options, cli);
    const body = await readInput(file, cli);
    const timestamp = options.timestamp ?? Math.floor(Date.now() / 1000);
    const sender = options.sender === undefined ? null : await senderOf(options, secret);
    const headers =
      sender === null
        ? { [SIGNATURE_HEADER]: signBody({ body, secret, timestamp }) }
        : sender.sign(body, {
            secret,
            now: timestamp * 1000,
            headers: headersForFile(options.header ?? [], sender, cli.terminal),
          });
    const names = sender?.signatureHeaders ?? [SIGNATURE_HEADER.toLowerCase()];
    const [header, value] = Object.entries(headers).find(([name]) =>
      names.includes(name.toLowerCase()),
    ) as [string, string];
    const lines = Object.entries(headers).map(([name, text]) => `${name}: ${text}`);
    if (options.json) {
      cli.terminal.printJson({
        header,
        value,
        timestamp,
        ...(options.sender !== undefined && { headers }),
      });
    } else {
      const text = options.curl
        ? curlCommand(
            file,
            lines,
            options.url?.href ?? `${DEFAULT_URL}${options.sender ?? "signals"}`,
          )
        : options.value
          ? value
          : lines.join("\n");
      // Not broken at the edge of a terminal, so that it can be copied.
      await cli.terminal.write(`${text}\n`);
    }
  });
}

function curlCommand(file: string, headerLines: readonly string[], url: string): string {
  const hasType = headerLines.some((line) => /^content-type:/i.test(line));
  // `--data-binary`, because `--data` would remove line ends, and the signature would not match the
  // body.
  return [
    `curl -X POST ${shellQuote(url)}`,
    ...(hasType ? [] : ["-H 'Content-Type: application/json'"]),
    ...headerLines.map((line) => `-H ${shellQuote(line)}`),
    `--data-binary ${shellQuote(`@${file}`)}`,
  ].join(" \\\n  ");
}
