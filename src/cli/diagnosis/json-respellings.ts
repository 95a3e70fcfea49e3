/** The same JSON in another spelling, as some program would write it. */
export interface JsonRespelling {
  text: string;
  /** How it is spelt, one thing each. */
  words: readonly string[];
}

interface Layout {
  name: string;
  comma: string;
  colon: string;
  /** Blanks of one level; null: all on one line. */
  indent: string | null;
}

const LAYOUTS: readonly Layout[] = [
  { name: "blanks as JSON.stringify writes them (none)", comma: ",", colon: ":", indent: null },
  { name: "blanks as Python writes them (after commas and colons)", comma: ", ", colon: ": ", indent: null },
  { name: "indented by 2", comma: ",", colon: ": ", indent: "  " },
  { name: "indented by 4", comma: ",", colon: ": ", indent: "    " },
  { name: "indented by tabs", comma: ",", colon: ": ", indent: "\t" },
];

interface Escaping {
  name: string;
  spell: (literal: string) => string;
}

const plain = (literal: string): string => JSON.stringify(JSON.parse(literal));
const ascii = (literal: string): string =>
  plain(literal).replaceAll(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
const slashes = (literal: string): string => literal.replaceAll("/", "\\/");

const ESCAPINGS: readonly Escaping[] = [
  { name: "", spell: (literal) => literal },
  { name: "text beyond ASCII not escaped", spell: plain },
  { name: "text beyond ASCII escaped", spell: ascii },
  { name: "slashes escaped", spell: (literal) => slashes(plain(literal)) },
  { name: "slashes and text beyond ASCII escaped", spell: (literal) => slashes(ascii(literal)) },
  {
    name: "<, > and & escaped",
    spell: (literal) =>
      plain(literal).replaceAll(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`),
  },
];

// Word by word and not by JSON.parse, which would turn 1.0 into 1 and lose duplicate keys.
const WORD = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** Every usual spelling of this JSON; none for what is no JSON. */
export function jsonRespellings(text: string): JsonRespelling[] {
  const words = wordsOf(text);
  if (words === null) return [];
  return ESCAPINGS.flatMap((escaping) => {
    const spelt = words.map((word) => (word.startsWith('"') ? escaping.spell(word) : word));
    return LAYOUTS.map((layout) => ({
      text: write(spelt, layout),
      words: [layout.name, escaping.name].filter((name) => name !== ""),
    }));
  });
}

function wordsOf(text: string): string[] | null {
  try {
    JSON.parse(text);
  } catch {
    return null;
  }
  return text.match(WORD);
}

function write(words: readonly string[], { comma, colon, indent }: Layout): string {
  let depth = 0;
  const newLine = (): string => (indent === null ? "" : `\n${indent.repeat(depth)}`);
  let text = "";
  words.forEach((word, index) => {
    const isEmpty = word === "{" || word === "[" ? /[}\]]/.test(words[index + 1] ?? "") : /[{[]$/.test(text);
    if (word === "{" || word === "[") {
      depth += 1;
      text += isEmpty ? word : word + newLine();
    } else if (word === "}" || word === "]") {
      depth -= 1;
      text += isEmpty ? word : newLine() + word;
    } else if (word === ",") text += comma + newLine();
    else text += word === ":" ? colon : word;
  });
  return text;
}
