import { ftsQuery } from "../market/fts-query.js";

/**
 * The condition for a text that was searched for, with its value; none for a blank text.
 *
 * @param idColumn what the full-text table's rowid is
 */
export function searched(
  text: string | undefined,
  idColumn: string,
  table: "product_fts" | "keyword_fts",
  values: Record<string, string | number>,
): string[] {
  if (text === undefined || text.trim() === "") return [];
  const match = ftsQuery(text);
  // Text without a letter or a digit in it is in no name.
  if (match === null) return ["0"];
  values["match"] = match;
  return [`${idColumn} IN (SELECT rowid FROM ${table} WHERE ${table} MATCH @match)`];
}
