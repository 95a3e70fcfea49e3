/** Whether a text has all words of another, the last of which may go on; Chinese is looked for as it stands. */
export function plainMatch(text: string, searched: string): boolean {
  // Chinese has no blanks: where it ends a word ends.
  const words = text.toLowerCase().match(/\p{Script=Han}+|(?:(?!\p{Script=Han})[\p{L}\p{N}])+/gu) ?? [];
  const wanted = searched
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  return wanted.every((word, index) => {
    if (/\p{Script=Han}/u.test(word)) return words.some((each) => each.includes(word));
    const isLast = index === wanted.length - 1;
    return words.some((each) => (isLast ? each.startsWith(word) : each === word));
  });
}
