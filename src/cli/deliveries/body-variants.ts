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
