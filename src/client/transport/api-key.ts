/** An API key, or where to get it: asked for each request, so that a new key is used as soon as it is there. */
export type ApiKeySource = string | (() => string | Promise<string>);

/**
 * Why a key cannot be one; null when it can. What cannot stand in a header must not reach `fetch`, whose error would
 * quote it.
 */
export function apiKeyProblem(key: unknown): string | null {
  if (typeof key !== "string") return "expected a text, or a function that gives one";
  if (key.trim() === "") return "it is empty";
  if (/[\r\n]/.test(key)) return "it has a line break, perhaps at its end";
  return /^[\x21-\x7e]+$/.test(key) ? null : "it has a blank, or a character that no header can hold";
}

/** A text without the key, should somebody have put it there. A short one is no key, and may stand in any word. */
export function withoutKey(text: string, key: string | null): string {
  return key === null || key.length < 8 ? text : text.replaceAll(key, "[API key]");
}
