import { stripVTControlCharacters } from "node:util";

/** A text is beside its label if it has at least this many columns there. */
const LEAST_BESIDE = 28;
const INDENT = 4;

/**
 * Breaks the lines that are longer than `columns` between words. Two spaces separate the columns of
 * a table: the last one continues below its start, if there is room. A line that begins with `$ `
 * is a shell command. It is broken with backslashes, so that it can be copied.
 */
export function wrap(text: string, columns: number): string {
  return text
    .split("\n")
    .map((line) => wrapLine(line, columns))
    .join("\n");
}

function wrapLine(line: string, columns: number): string {
  if (widthOf(line) <= columns) return line;
  const visible = stripVTControlCharacters(line);
  const indent = visible.search(/\S/);
  if (SHELL_COMMAND.test(visible))
    return fill(line.match(SHELL_WORD) ?? [], indent + INDENT, columns, " \\");
  const [head = ""] = /^.*\S {2,}/s.exec(line) ?? [];
  const words = line.slice(head.length).split(BEFORE_GAP);
  const start = head === "" ? indent : widthOf(head);
  const room = Math.max(LEAST_BESIDE, ...words.map((word) => widthOf(word.trimStart())));
  if (head !== "" && columns - start < room)
    return fill(line.split(BEFORE_GAP), indent + INDENT, columns);
  return fill([head + (words[0] ?? ""), ...words.slice(1)], start, columns);
}

const SHELL_COMMAND = /^ *\$ /;
const BEFORE_GAP = /(?<=\S)(?= )/;
/**
 * A word of a shell command with the spaces before it. An option has its value with it; `|` and `>`
 * have the next word.
 */
const SHELL_WORD =
  /\s*(?:(?:--?[A-Za-z][\w-]*|[|>]) (?![-|>]))?(?:\\.|'[^']*'|"[^"]*"|\$\([^)]*\)|\S)+/g;

/**
 * Joins the pieces, each with the spaces before it, to lines. All lines but the first begin with
 * `indent` spaces.
 */
function fill(pieces: readonly string[], indent: number, columns: number, lineEnd = ""): string {
  const lines: string[] = [];
  let line = "";
  for (const piece of pieces) {
    if (line.trim() === "" || widthOf(line + piece + lineEnd) <= columns) line += piece;
    else {
      lines.push(line.trimEnd() + lineEnd);
      line = " ".repeat(indent) + piece.trimStart();
    }
  }
  return [...lines, line].join("\n");
}

/** Characters that are two columns wide, such as Chinese ones. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]|[\u{1f300}-\u{3fffd}]/gu;

/** How many columns of a terminal the text needs. Colours need none. */
export function widthOf(text: string): number {
  return stripVTControlCharacters(text).replaceAll(WIDE, "xx").length;
}
