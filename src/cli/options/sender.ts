import { Option } from "#commander";
import { SENDER_NAMES, type SenderName } from "../../senders/sender-names.js";
import type { AnySender } from "../../senders/sender.js";
import { usageError } from "./exit.js";
import { collect, httpUrl } from "./parse-option.js";

export const SENDER = new Option("--sender <name>", "the sender (default: the service)").choices(SENDER_NAMES);
export const PUBLIC_URL = new Option(
  "--public-url <url>",
  "with --sender twilio: the address that Twilio has",
).argParser(httpUrl);
export const SENDER_HEADER = new Option(
  "-H, --header <header>",
  "with --sender: a header that it sends, such as 'X-GitHub-Event: push' (repeatable)",
).argParser(collect);

/** The sender that was chosen, by default the service. Imported here, so that --help starts faster. */
export async function senderOf(options: { sender?: SenderName; publicUrl?: URL }): Promise<AnySender> {
  const { sender = "signals", publicUrl } = options;
  if (sender === "twilio" && publicUrl === undefined) throw usageError("--sender twilio needs --public-url <url>");
  const { builtInSender } = await import("../../senders/built-in.js");
  return builtInSender(sender, { publicUrl: publicUrl?.href }) as AnySender;
}

/** Reads lines such as `X-GitHub-Event: push`. A value alone is that of the signature's header. */
export function headersOf(lines: readonly string[], { signatureHeader }: AnySender): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const [, name = signatureHeader, value = line.trim()] = /^\s*([\w-]+)\s*:\s*(.*?)\s*$/s.exec(line) ?? [];
    headers[name.toLowerCase()] = value;
  }
  return headers;
}
