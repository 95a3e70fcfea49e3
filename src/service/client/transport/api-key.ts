import type { AnswerHeaders } from "./raw-answer.js";

/**
 * An API key, or a function that returns it. The function is called for each request, so a new key
 * is used from the next request on.
 */
export type ApiKeySource = string | (() => string | Promise<string>);

/**
 * Returns why a value cannot be an API key, or null. A key that a header cannot hold must not reach
 * `fetch`, because the error of `fetch` would contain the key.
 */
export function apiKeyProblem(key: unknown): string | null {
  if (typeof key !== "string") return "expected a text, or a function that returns one";
  if (key.trim() === "") return "it is empty";
  if (/[\r\n]/.test(key)) return "it has a line break, perhaps at its end";
  return /^[\x21-\x7e]+$/.test(key)
    ? null
    : "it has a space, or a character that a header cannot hold";
}

/**
 * Replaces the key in a text. Keys of less than 8 characters are not replaced, because they may be
 * part of a word.
 */
export function withoutKey(text: string, key: string | null): string {
  return key === null || key.length < 8 ? text : text.replaceAll(key, "[API key]");
}

/**
 * The request's id in the answer, for an error. The key is removed from the id, because a proxy may
 * have put it there.
 */
export function requestIdOf(headers: AnswerHeaders, key: string | null): string | undefined {
  const id = headers.get("x-request-id");
  return id === null ? undefined : withoutKey(id, key);
}
