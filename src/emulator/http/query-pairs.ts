import { shownName, type ParameterProblem } from "../operations/parameter-problem.js";

/** Names and texts of a query, in order, decoded strictly: what a lenient parser would guess is a problem here. */
export function queryPairs(query: string): { pairs: [name: string, text: string][]; problems: ParameterProblem[] } {
  const pairs: [string, string][] = [];
  const problems: ParameterProblem[] = [];
  for (const part of query.split("&")) {
    if (part === "") continue;
    const equals = part.indexOf("=");
    const name = decode(equals === -1 ? part : part.slice(0, equals));
    const text = decode(equals === -1 ? "" : part.slice(equals + 1));
    if (name === null)
      problems.push({ parameter: "", problem: "the name of a parameter is not percent-encoded UTF-8" });
    else if (text === null) problems.push({ parameter: shownName(name), problem: "is not percent-encoded UTF-8" });
    else if (text.includes("\0")) problems.push({ parameter: shownName(name), problem: "holds a null character" });
    else pairs.push([name, text]);
  }
  return { pairs, problems };
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return null;
  }
}
