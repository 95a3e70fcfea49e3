import type { FindingId } from "./finding-ids.js";
import { rewritings } from "./rewrite-json.js";

/** Something between here and the receiver that changes bytes. */
export interface BodyChange {
  id: FindingId;
  /** What it does, one thing each. */
  words: readonly string[];
  apply: (body: Buffer) => Buffer;
  /** Whether it may as well pass a body on as it is. @default never */
  mayKeep?: (body: Buffer) => boolean;
}

const BOM = "\u00ef\u00bb\u00bf";

/** Latin-1 stands for bytes here: one character each, and back without loss. */
function onBytes(change: (text: string) => string): (body: Buffer) => Buffer {
  return (body) => Buffer.from(change(body.toString("latin1")), "latin1");
}

const dropBom = (text: string): string => (text.startsWith(BOM) ? text.slice(BOM.length) : text);

const SIMPLE: readonly BodyChange[] = [
  {
    id: "blanks_trimmed",
    words: ["a line end at its end is taken away"],
    apply: onBytes((text) => text.replace(/\r?\n$/, "")),
  },
  {
    id: "blanks_trimmed",
    words: ["blanks at its end are taken away"],
    apply: onBytes((text) => text.trimEnd()),
  },
  {
    id: "blanks_trimmed",
    words: ["blanks around it are taken away"],
    apply: onBytes((text) => text.trim()),
  },
  { id: "bom_dropped", words: ["a byte order mark is taken away"], apply: onBytes(dropBom) },
  {
    id: "blanks_trimmed",
    words: ["a byte order mark and blanks around it are taken away"],
    apply: onBytes((text) => dropBom(text).trim()),
  },
  {
    id: "line_ends_changed",
    words: ["its CRLF become LF"],
    apply: onBytes((text) => text.replaceAll("\r\n", "\n")),
  },
  {
    id: "line_ends_changed",
    words: ["its LF become CRLF"],
    apply: onBytes((text) => text.replaceAll("\r\n", "\n").replaceAll("\n", "\r\n")),
  },
  {
    id: "line_ends_changed",
    words: ["each LF becomes CRLF, behind a CR too"],
    apply: onBytes((text) => text.replaceAll("\n", "\r\n")),
  },
  {
    id: "text_recoded",
    words: ["its UTF-8 is read as Latin-1 and encoded again"],
    apply: (body) => Buffer.from(body.toString("latin1"), "utf8"),
  },
  {
    id: "text_recoded",
    words: ["all beyond ASCII becomes ?"],
    apply: (body) => Buffer.from(body.toString("utf8").replaceAll(/[^\0-\u007f]/gu, "?"), "utf8"),
  },
];

/** Some that write JSON end it with a line end. */
const TAILS = ["", "\n", "\r\n"] as const;

const ADDED: readonly BodyChange[] = ["\n", "\r\n"].map((end) => ({
  id: "line_end_added",
  words: [`a line end (${end === "\n" ? "LF" : "CRLF"}) is added`],

  apply: (body) => Buffer.concat([body, Buffer.from(end)]),
}));

let all: readonly BodyChange[] | undefined;

/** The same for every body, so that one of them has to explain all that happened. The likely ones come first. */
export function bodyChanges(): readonly BodyChange[] {
  const words = rewritings("{}").map((each) => each.words);
  all ??= [...ADDED, ...SIMPLE, ...TAILS.flatMap((tail) => words.map((each, index) => rewriting(index, each, tail)))];
  return all;
}

function rewriting(index: number, words: readonly string[], tail: (typeof TAILS)[number]): BodyChange {
  return {
    id: "json_rewritten",
    words: tail === "" ? words : [...words, "with a line end"],
    apply(body) {
      const written = rewritingsOf(body)[index];
      return written === undefined ? body : Buffer.from(written + tail);
    },
    mayKeep: isUnreadable,
  };
}

/** What a strict parser cannot read, as behind a byte order mark, many pass on as it is. */
function isUnreadable(body: Buffer): boolean {
  try {
    JSON.parse(body.toString("utf8"));
    return false;
  } catch {
    return true;
  }
}

const written = new WeakMap<Buffer, string[]>();

/** Each body is written again some hundred times: once for all. */
function rewritingsOf(body: Buffer): string[] {
  const found = written.get(body) ?? rewritings(body.toString("utf8").replace(/^\ufeff/, "")).map(({ text }) => text);
  written.set(body, found);
  return found;
}

/** What the usual changes make of a body: different ones, and none that is the body itself. */
export function suspectBodies(body: Buffer): Buffer[] {
  const found = new Map<string, Buffer>();
  for (const { apply } of bodyChanges()) {
    const changed = apply(body);
    if (!changed.equals(body)) found.set(changed.toString("latin1"), changed);
  }
  return [...found.values()];
}
