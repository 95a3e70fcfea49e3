import { stripVTControlCharacters } from "node:util";

/** A text is beside its label if it has at least this many columns there. Otherwise it is below the label. */
const LEAST_BESIDE = 28;
const INDENT = 4;

/**
 * Breaks the lines that are longer than `columns` between words. Two spaces separate the columns of a table. Only the last of them
 * is broken: it continues below its start or, if that is too far right, on a line of its own. A line that begins with `$ ` is a
 * shell command. It is broken with backslashes, so that it can be copied.
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
  if (SHELL_COMMAND.test(visible)) return fill(line.match(SHELL_WORD) ?? [], indent + INDENT, columns, " \\");
  const [, head = "", text = ""] = /^(.*\S {2,})?(.*)$/s.exec(line) ?? [];
  const words = text.split(BEFORE_GAP);
  const longest = words.reduce((width, word) => Math.max(width, widthOf(word.trimStart())), 0);
  const start = widthOf(head);
  if (start <= indent) {
    // No columns, but perhaps an indent and colours. A word that needs the room takes it from the indent.
    const room = columns - indent >= longest ? indent : Math.min(indent, INDENT);
    const first = " ".repeat(room) + head.replaceAll(" ", "") + words[0]?.trimStart();
    return fill([first, ...words.slice(1)], room, columns);
  }
  if (columns - start >= Math.max(LEAST_BESIDE, longest)) return fill([head, ...words], start, columns);
  const below = indent + INDENT;
  const cells = head.trimEnd().split(/(?<=\S)(?= {2})/);
  if (widthOf(text) <= LEAST_BESIDE) return fill([...cells, `  ${text}`], below, columns);
  return `${fill(cells, below, columns)}\n${wrapLine(" ".repeat(below) + text, columns)}`;
}

const SHELL_COMMAND = /^ *\$ /;
const BEFORE_GAP = /(?<=\S)(?= )/;
/** A word of a shell command with the spaces before it. An option has its value with it; `|` and `>` have the next word. */
const SHELL_WORD = /\s*(?:(?:--?[A-Za-z][\w-]*|[|>]) (?![-|>]))?(?:'[^']*'|"[^"]*"|\$\([^)]*\)|\S)+/g;

/** Joins the pieces, each with the spaces before it, to lines. All lines but the first begin with `indent` spaces. */
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
const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]|[\u{1f300}-\u{3fffd}]/gu;

/** How many columns of a terminal the text needs. Colours need none. */
export function widthOf(text: string): number {
  return stripVTControlCharacters(text).replaceAll(WIDE, "xx").length;
}
