import { relative } from "node:path";

export function shellQuote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** The `cd` command for a folder; `null` for the current folder. */
export function cdCommand(directory: string): string | null {
  const path = relative(process.cwd(), directory);
  if (path === "") return null;
  // `cd` would read a name that begins with a dash as an option.
  return `cd ${path.startsWith("-") ? "./" : ""}${shellQuote(path)}`;
}
