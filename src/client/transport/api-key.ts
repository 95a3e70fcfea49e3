/** An API key, or a function that returns it. The function is called for each request, so that a new key is used at once. */
export type ApiKeySource = string | (() => string | Promise<string>);

/**
 * Why a value cannot be an API key; null when it can. A key that no header can hold must not reach `fetch`, whose error
 * would quote it.
 */
export function apiKeyProblem(key: unknown): string | null {
  if (typeof key !== "string") return "expected a text, or a function that returns one";
  if (key.trim() === "") return "it is empty";
  if (/[\r\n]/.test(key)) return "it has a line break, perhaps at its end";
  return /^[\x21-\x7e]+$/.test(key) ? null : "it has a blank, or a character that no header can hold";
}

/** The text with the key replaced. A key of less than 8 characters is left: it may be part of an ordinary word. */
export function withoutKey(text: string, key: string | null): string {
  return key === null || key.length < 8 ? text : text.replaceAll(key, "[API key]");
}
