import { existsSync, readdirSync, readFileSync } from "node:fs";

const ROOT = new URL("../../", import.meta.url);
const TOP = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"];

/** All documents for users, by their paths in the repository. */
export const DOCUMENTS: readonly string[] = [
  ...TOP.filter((name) => existsSync(new URL(name, ROOT))),
  ...readdirSync(new URL("docs", ROOT))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];

/** A fenced block of code, with the heading it stands under. */
export interface CodeBlock {
  /** The document's path in the repository. */
  path: string;
  language: string;
  code: string;
  heading: string;
  /** Of its first line of code, from 1. */
  line: number;
}

/** The parts of a Markdown document that the tests use. @param path in the repository */
export function readDocument(path: string) {
  const lines = readFileSync(new URL(path, ROOT), "utf8").split("\n");
  const headings: { level: number; text: string; line: number }[] = [];
  const blocks: CodeBlock[] = [];
  const prose: string[] = [];
  let open: CodeBlock | null = null;
  for (const [index, line] of lines.entries()) {
    const fence = /^```(\w*)$/.exec(line);
    if (fence !== null) {
      if (open === null) {
        const heading = headings.at(-1)?.text ?? "";
        open = { path, language: fence[1] ?? "", code: "", heading, line: index + 2 };
      } else {
        blocks.push(open);
        open = null;
      }
    } else if (open !== null) {
      open.code += `${line}\n`;
    } else {
      prose.push(line);
      const heading = /^(#+) (.+)$/.exec(line);
      if (heading !== null)
        headings.push({ level: heading[1]?.length ?? 0, text: heading[2] ?? "", line: index });
    }
  }
  if (open !== null) throw new Error(`the block at ${path}:${open.line} is not closed`);

  /** The lines from a heading to the next one that ends it. */
  function linesUnder(heading: string, ends: (level: number, own: number) => boolean): string[] {
    const at = headings.findIndex((each) => each.text === heading);
    const from = headings[at];
    if (from === undefined) throw new Error(`${path} has no heading "${heading}"`);
    const end =
      headings.slice(at + 1).find(({ level }) => ends(level, from.level))?.line ?? lines.length;
    return lines.slice(from.line + 1, end);
  }

  return {
    lines,
    headings,
    blocks,
    /** The one block with this in it. */
    block(holding: string): CodeBlock {
      const [found, ...others] = blocks.filter(({ code }) => code.includes(holding));
      if (found === undefined || others.length > 0)
        throw new Error(`${path} has not one block with ${holding}`);
      return found;
    },
    /** The text from a heading to the next of its level or above, blocks and all. */
    section: (heading: string) => linesUnder(heading, (level, own) => level <= own).join("\n"),
    /** The rows of each table under a heading, without the head; cells as plain text. */
    tablesUnder: (heading: string) => tablesIn(linesUnder(heading, () => true)),
    /** The targets of its links. */
    links: [...prose.join("\n").matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1] ?? ""),
  };
}

function tablesIn(lines: readonly string[]): string[][][] {
  const tables: string[][][] = [];
  let rows: string[][] | null = null;
  for (const line of lines) {
    if (!line.startsWith("|")) {
      rows = null;
    } else if (rows === null) {
      rows = [];
      tables.push(rows);
    } else if (!/^\|[\s:|-]+\|$/.test(line)) {
      rows.push(cellsOf(line));
    }
  }
  return tables;
}

/** The cells of a line of a table, as plain text. */
export function cellsOf(line: string): string[] {
  const cells = line.slice(1, -1).split(/(?<!\\)\|/);
  return cells.map((cell) => cell.trim().replaceAll("\\|", "|"));
}

/** The texts between backticks. */
export function codesIn(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
}

/** The text between the first pair of backticks; the whole text when there is no pair. */
export function codeIn(cell: string | undefined): string {
  return /`([^`]*)`/.exec(cell ?? "")?.[1] ?? cell ?? "";
}

/** The anchor that a heading gets on the usual hosts. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");
}
