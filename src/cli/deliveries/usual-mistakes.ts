import type { AnySender } from "../../kit/senders/engine/sender.js";
import { filled, type Fault } from "./explain-answer.js";
import MISTAKES from "./mistakes.json" with { type: "json" };

interface BodyVariant {
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
interface SecretMistake extends Fault {
  key: string | Buffer;
}

interface Row extends Fault {
  /** A template. Where a secret has no such part, it is empty. */
  key: string;
  /** In which the key is decoded. */
  encoding?: BufferEncoding;
}

const PREFIX = "whsec_";

/** The side that may have another key. */
type Side = "signer" | "receiver";

/** What usual mistakes make of a secret. No text quotes it. */
export function secretMistakes(given: string, other: Side): SecretMistake[] {
  const secret = given.trim();
  const hasPrefix = secret.startsWith(PREFIX);
  const bare = hasPrefix ? secret.slice(PREFIX.length) : secret;
  const [, , unquoted = ""] = /^(["'])(.*)\1$/s.exec(secret) ?? [];
  const [, assigned = ""] = /^(?:export\s+)?\w+=["']?(.*?)["']?$/s.exec(secret) ?? [];
  const parts = secret.split(/[\s,;]+/).filter((part) => part !== secret);
  const values = {
    secret,
    bare,
    unquoted,
    assigned,
    prefix: PREFIX,
    prefixed: hasPrefix ? "" : PREFIX + secret,
    unprefixed: hasPrefix ? bare : "",
    hex: /^(?:[0-9a-f]{2})+$/i.test(bare) ? bare : "",
    here: "the secret given here",
    there: `the ${other}'s secret`,
  };
  const rows: readonly Row[] = MISTAKES as Row[];
  return rows
    .flatMap(({ id, key: template, encoding, found, fix }) => {
      const texts = template === "{part}" ? parts : [filled(template, values)];
      return texts.map((text) => ({
        id,
        key: encoding === undefined ? text : Buffer.from(text, encoding),
        found: filled(found, values),
        fix,
      }));
    })
    .filter(({ key }) => key.length > 0 && key !== given);
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
