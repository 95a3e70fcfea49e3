import { InvalidArgumentError, Option } from "#commander";
import type { AnySender } from "../../kit/senders/engine/sender.js";
import { recordOf, SENDER_NAMES, SENDERS, type SenderName } from "../../kit/senders/records.js";
import { usageError } from "./exit.js";
import { collect, httpUrl } from "./options.js";
import type { Terminal } from "./terminal.js";

export const SENDER = new Option("--sender <name>", "the sender (default: the service)").choices(
  SENDER_NAMES,
);
/** The senders that sign the address of the receiver. */
const SIGNING_URL = SENDERS.filter(({ needs }) => "publicUrl" in needs).map(({ name }) => name);
export const PUBLIC_URL = new Option(
  "--public-url <url>",
  `with --sender ${SIGNING_URL.join(" or ")}: the address that the sender has`,
).argParser((text: string) => {
  httpUrl(text);
  // As it was typed: the sender signs a port or a slash that a URL would leave out or add.
  return text;
});
export const SENDER_HEADER = new Option(
  "-H, --header <header>",
  "with --sender: a header that it sends, such as 'X-GitHub-Event: push' (repeatable)",
).argParser((text: string, before: readonly string[] | undefined) => {
  if (/^\s*[\w-]+\s*:/.test(text)) return collect(text, before);
  throw new InvalidArgumentError(
    "Expected a name, a colon and a value, such as 'X-GitHub-Event: push'.",
  );
});

/**
 * The sender that was chosen, by default the service. Imported here, so that --help starts faster.
 * @param secret the first one
 */
export async function senderOf(
  options: { sender?: SenderName; publicUrl?: string },
  secret?: string,
): Promise<AnySender> {
  const { sender, publicUrl } = options;
  if (sender !== undefined && "publicUrl" in recordOf(sender).needs && publicUrl === undefined)
    throw usageError(`--sender ${sender} needs --public-url <url>`);
  const { builtInSender } = await import("../../kit/senders/built-in.js");
  return builtInSender(sender ?? "signals", { publicUrl, secret }) as AnySender;
}

/** Reads lines such as `X-GitHub-Event: push`. A value alone is that of the signature's header. */
export function headersOf(
  lines: readonly string[],
  { signatureHeader }: AnySender,
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const [, name = signatureHeader, value = line.trim()] =
      /^\s*([\w-]+)\s*:\s*(.*?)\s*$/s.exec(line) ?? [];
    // An empty signature is a missing one.
    if (value !== "" || name.toLowerCase() !== signatureHeader) headers[name.toLowerCase()] = value;
  }
  return headers;
}

/**
 * The headers that were given for the body of a file. Those of the sender's sample that fill them
 * up are noted, since one may be the type.
 */
export function headersForFile(
  lines: readonly string[],
  sender: AnySender,
  terminal: Pick<Terminal, "note">,
): Record<string, string> {
  const given = headersOf(lines, sender);
  if (sender.keptHeaders.some((name) => name in given && name !== "content-type")) return given;
  const { headers = {} } = sender.sample(Date.now());
  for (const [name, value] of Object.entries(headers)) {
    if (name === "content-type" || name === "user-agent") continue;
    terminal.note(`the header ${name} is that of the sample: ${value}; give another with -H`);
  }
  return { ...headers, ...given };
}
