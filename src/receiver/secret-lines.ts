/**
 * The secrets in a file's text: one a line, blank lines aside. There are no comments, and a line is not trimmed: whatever
 * it holds may belong to its secret. A byte order mark before the first one does not.
 */
export function secretLines(text: string): string[] {
  return text
    .replace(/^\ufeff/, "")
    .split(/\r?\n/)
    .filter((line) => line.trim() !== "");
}
