const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|\s+|\{\s*\}|\[\s*\]|[{}[\],:]/g;
/** Deeper lines are not indented further: the text would be many times longer than the JSON. */
const DEEPEST = 20;

/** A longer text is not indented, since that would block the event loop. */
const LONGEST = 65_536;

/**
 * Indents valid JSON. Unlike `JSON.stringify` of the parsed value it keeps every number and every
 * key as it was written.
 */
export function indentJson(json: string): string {
  if (json.length > LONGEST) return json;
  let depth = 0;
  const lineEnd = (): string => `\n${"  ".repeat(Math.min(depth, DEEPEST))}`;
  return json.replace(TOKEN, (token) => {
    if (token.startsWith('"')) return token;
    if (/^[{[]./s.test(token)) return token.replaceAll(/\s/g, "");
    if (token === ":") return ": ";
    if (token === ",") return token + lineEnd();
    if (/[{}[\]]/.test(token)) {
      const isOpening = token === "{" || token === "[";
      depth += isOpening ? 1 : -1;
      return isOpening ? token + lineEnd() : lineEnd() + token;
    }
    return "";
  });
}
