/**
 * Builds the conditions of a search: the text must contain each of the words, which may be parts of
 * its words. Upper and lower case are the same, and signs between the words do not count. Without a
 * word there is no condition; signs alone match nothing.
 *
 * @param column the SQL of the text, in lower case
 * @param values gets the words
 */
export function searched(
  text: string | undefined,
  column: string,
  values: Record<string, string | number>,
): readonly string[] {
  if (text === undefined || text.trim() === "") return [];
  const words = text.toLowerCase().match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  for (const [place, word] of words.entries()) values[`word${place}`] = word;
  return words.length === 0
    ? ["0"]
    : words.map((_, place) => `instr(${column}, @word${place}) > 0`);
}
