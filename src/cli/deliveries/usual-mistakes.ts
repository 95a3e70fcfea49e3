import type { AnySender } from "../../kit/senders/engine/sender.js";

export interface BodyVariant {
  body: Buffer;
  /** Completes "the body arrives …" and "the body was signed …", for example `as compact JSON`. */
  name: string;
  /** How such bytes are usually made, as a sentence. */
  by: string;
}

const BOM = "\u00ef\u00bb\u00bf";
const EDITOR = "an editor, `echo` or a shell's $(…) changes such bytes";
const PARSER = "a program parsed the JSON and wrote it again";

/**
 * The body as editors, shells, parsers and proxies usually change it, the most likely changes
 * first. A variant that is equal to the body is left out.
 */
export function bodyVariants(body: Buffer): BodyVariant[] {
  // Latin-1 has a character for each byte, so no byte is lost.
  const text = body.toString("latin1");
  const unix = text.replaceAll("\r\n", "\n");
  const ofText = {
    "without the line end at the end": text.replace(/\r?\n$/, ""),
    "with a line end (LF) at the end": `${text}\n`,
    "with a line end (CRLF) at the end": `${text}\r\n`,
    "without the white space at both ends": text.replaceAll(
      /^[ \t\r\n]+|(?<![ \t\r\n])[ \t\r\n]+$/g,
      "",
    ),
    "with LF line ends": unix,
    "with CRLF line ends": unix.replaceAll("\n", "\r\n"),
    "with a byte order mark at the start": BOM + text,
    "without the byte order mark at the start": text.startsWith(BOM)
      ? text.slice(BOM.length)
      : text,
  };
  const all = [
    ...Object.entries(ofText).map(([name, each]) => ({
      name,
      by: EDITOR,
      body: Buffer.from(each, "latin1"),
    })),
    ...jsonVariants(body.toString("utf8").replace(/^\ufeff/, "")),
  ];
  return all.filter((variant) => !variant.body.equals(body));
}

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

function jsonVariants(text: string): BodyVariant[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [];
  }
  const compact = JSON.stringify(value);
  // The string values stay the same: inside a string, JSON.stringify writes a line break as a
  // backslash and an n.
  const python = JSON.stringify(value, null, 1).replaceAll(/,\n */g, ", ").replaceAll(/\n */g, "");
  return [
    // The first variant only removes white space. In the second, 1.0 has also become 1, as it does
    // with JSON.parse.
    { name: "as compact JSON", text: (text.match(TOKEN) ?? []).join("") },
    { name: "as compact JSON", text: compact },
    { name: "as compact JSON, with non-ASCII characters escaped", text: escapeNonAscii(compact) },
    { name: "as JSON indented by 2", text: JSON.stringify(value, null, 2) },
    { name: "as Python's json.dumps writes JSON", text: escapeNonAscii(python) },
  ].map((variant) => ({ name: variant.name, by: PARSER, body: Buffer.from(variant.text) }));
}

function escapeNonAscii(json: string): string {
  return json.replaceAll(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/**
 * A key that the signer or receiver may use instead of the given secret, and the explanation if
 * that key matches.
 */
export interface SecretMistake {
  key: string | Buffer;
  id: string;
  found: string;
  fix: string;
}

const PREFIX = "whsec_";
const HERE = "the secret given here";
const SEVERAL = "several secrets are given here as one secret";
const WHOLE = "Use the whole secret, as the sender showed it, as the key. Do not decode it.";

/** By the id of the finding: what to do there, and here if it is something else. */
const FIXES: Readonly<Record<string, readonly [there: string, here?: string]>> = {
  secret_has_blanks: [
    "Remove it there. An editor, `echo` without -n or pasting may have added it.",
    "Remove it here.",
  ],
  secret_has_quotes: [
    "Remove them there. Docker's --env-file, for example, does not remove quotes.",
    "Remove them here.",
  ],
  secret_is_line: ["Use only the text after the = as the secret."],
  secret_is_list: ["Give each secret with a separate --secret, or one per line in --secret-file."],
  secret_lacks_prefix: [WHOLE],
  secret_decoded: [WHOLE],
};

/** The side that may have another key. */
type Side = "signer" | "receiver";

const here = (is: string): string => `${HERE} ${is}`;

/** What usual mistakes make of a secret. No text quotes it. */
export function secretMistakes(given: string, other: Side): SecretMistake[] {
  const secret = given.trim();
  const theirs = `the ${other}'s secret`;
  const bare = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret;
  const [, , unquoted = ""] = /^(["'])(.*)\1$/s.exec(secret) ?? [];
  const [, assigned = ""] = /^(?:export\s+)?\w+=["']?(.*?)["']?$/s.exec(secret) ?? [];
  const isHex = /^(?:[0-9a-f]{2})+$/i.test(bare);
  const parts = secret.split(/[\s,;]+/).filter((part) => part !== secret);

  const there = (is: string) => `${theirs} ${is}`;
  const quotes = "has quotes around it";
  const line = "is a whole line of an .env file";
  const rows: readonly (readonly [id: string, key: string | Buffer, found: string])[] = [
    ["secret_has_blanks", secret, here("has a space or a line end around it")],
    ["secret_has_blanks", `${secret}\n`, there("has a line end after it")],
    ["secret_has_blanks", `${secret}\r\n`, there("has a line end after it")],
    ["secret_has_blanks", `${secret} `, there("has a space after it")],
    ["secret_has_blanks", ` ${secret}`, there("has a space in front of it")],
    ["secret_has_quotes", unquoted, here(quotes)],
    ["secret_has_quotes", `"${secret}"`, there(quotes)],
    ["secret_has_quotes", `'${secret}'`, there(quotes)],
    ["secret_is_line", assigned, here(line)],
    ["secret_is_line", `SIGNALS_SECRET=${secret}`, there(line)],
    ...parts.map((part) => ["secret_is_list", part, SEVERAL] as const),
    bare === secret
      ? ["secret_lacks_prefix", PREFIX + secret, here(`lacks its prefix ${PREFIX}`)]
      : ["secret_lacks_prefix", bare, there(`lacks its prefix ${PREFIX}`)],
    ["secret_decoded", Buffer.from(bare, "base64"), there("was decoded from base64")],
    ["secret_decoded", Buffer.from(secret, "base64"), there("was decoded from base64")],
    ["secret_decoded", isHex ? Buffer.from(bare, "hex") : "", there("was decoded from hex")],
  ];
  return rows
    .filter(([, key]) => key.length > 0 && key !== given)
    .map(([id, key, found]) => {
      const [fix, fixHere = fix] = FIXES[id] as readonly [string, string?];
      return { key, id, found, fix: found.startsWith(HERE) ? fixHere : fix };
    });
}

/** The usual mistakes, with their keys as secrets of the sender. */
export function senderMistakes(sender: AnySender, secret: string, other: Side): SecretMistake[] {
  const mistakes = secretMistakes(secret, other);
  const isDecoded = sender.secretProblem("no base64!") !== null;
  if (!isDecoded) return mistakes;
  const asText = {
    id: "secret_decoded",
    key: Buffer.from(secret.trim()).toString("base64"),
    found: `the ${other} used the text of the secret as the key`,
    fix: "The key is the base64 after its prefix, decoded.",
  };
  return [
    ...mistakes.map((mistake) => ({ ...mistake, key: mistake.key.toString("base64") })),
    asText,
  ];
}
