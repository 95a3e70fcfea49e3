import { jsonRespellings } from "../../diagnosis/json-respellings.js";

/** How a program that parses JSON writes it again. */
export interface Rewriting {
  text: string;
  /** What it does, one thing each. */
  words: readonly string[];
}

type Node = string | readonly Node[] | ReadonlyMap<string, Node>;

/** Every usual way to write this JSON again, always in the same order; none for what is no JSON. */
export function rewritings(text: string): Rewriting[] {
  const tree = parse(text);
  if (tree === null) return [];
  return [false, true].flatMap((isSorted) =>
    NUMBERS.flatMap(({ name, spell }) => {
      const more = [name, isSorted ? "keys sorted" : ""].filter((each) => each !== "");
      return jsonRespellings(write(tree, isSorted, spell)).map(({ text: written, words }) => ({
        text: written,
        words: [...words, ...more],
      }));
    }),
  );
}

type SpellNumber = (literal: string) => string;

const NUMBERS: readonly { name: string; spell: SpellNumber }[] = [
  { name: "", spell: (literal) => literal },
  { name: "numbers as JavaScript and Go write them", spell: (literal) => String(Number(literal)) },
  { name: "numbers as Python and PHP write them", spell: withPoint },
];

/** What had a fraction or an exponent has a fraction; whole numbers keep all their digits. */
function withPoint(literal: string): string {
  if (/^-?\d+$/.test(literal)) return literal;
  const text = String(Number(literal));
  return /[.e]/.test(text) ? text : `${text}.0`;
}

const WORD = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** The literals stay as they are spelt, which JSON.parse would not let them. */
function parse(text: string): Node | null {
  try {
    JSON.parse(text);
  } catch {
    return null;
  }
  const words = (text.match(WORD) ?? []).filter((word) => word !== "," && word !== ":");
  let at = 0;
  const next = (): Node => {
    const word = words[at++] ?? "";
    if (word === "[") {
      const items: Node[] = [];
      while (words[at] !== "]") items.push(next());
      at += 1;
      return items;
    }
    if (word !== "{") return word;
    const members = new Map<string, Node>();
    while (words[at] !== "}") members.set(words[at++] ?? "", next());
    at += 1;
    return members;
  };
  return next();
}

function write(node: Node, isSorted: boolean, spellNumber: SpellNumber): string {
  const inner = (each: Node): string => write(each, isSorted, spellNumber);
  if (typeof node === "string") return /^[-\d]/.test(node) ? spellNumber(node) : node;
  if (isList(node)) return `[${node.map(inner).join(",")}]`;
  const members = isSorted ? [...node].sort(([a], [b]) => (a < b ? -1 : 1)) : [...node];
  return `{${members.map(([key, value]) => `${key}:${inner(value)}`).join(",")}}`;
}

function isList(node: Exclude<Node, string>): node is readonly Node[] {
  return Array.isArray(node);
}
