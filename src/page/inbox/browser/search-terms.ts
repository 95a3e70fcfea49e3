const NAMES = { endpoint: ["endpoint"], type: ["type"], subject: ["subject", "product"] } as const;
type Term = keyof typeof NAMES;

/** The words of a search, as the server reads them: a part in quotes may have blanks. */
export const wordsOf = (search: string): string[] => search.match(/(?:"[^"]*"|\S)+/g) ?? [];

const isOf = (term: Term, word: string): boolean =>
  NAMES[term].some((name) => word.toLowerCase().startsWith(`${name}:`));

/** What the search has for this term; empty without it. */
export function termIn(search: string, term: Term): string {
  const word = wordsOf(search).find((each) => isOf(term, each)) ?? "";
  return word.slice(word.indexOf(":") + 1).replaceAll('"', "");
}

/** The search with this term, or without it when the value is empty. */
export function withTerm(search: string, term: Term, value: string): string {
  const others = wordsOf(search).filter((word) => !isOf(term, word));
  return [
    ...others,
    ...(value === "" ? [] : [`${term}:${/\s/.test(value) ? `"${value}"` : value}`]),
  ].join(" ");
}
