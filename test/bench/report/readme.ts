import type { BenchResult } from "../result.js";
import { renderMarkdown } from "./render-markdown.js";
import { tablesOf } from "./tables-of.js";

const BEGIN = "<!-- bench -->";
const END = "<!-- /bench -->";

/**
 * The README with the tables of this result between its two markers, and all else as it was.
 *
 * @throws Error when the markers are not there
 */
export async function withBenchTables(readme: string, result: BenchResult): Promise<string> {
  const begin = readme.indexOf(BEGIN);
  const end = readme.indexOf(END);
  if (begin === -1 || end < begin) throw new Error(`the README has no ${BEGIN} before a ${END}`);
  const tables = await renderMarkdown(tablesOf(result));
  return `${readme.slice(0, begin + BEGIN.length)}\n\n${tables}\n\n${readme.slice(end)}`;
}
