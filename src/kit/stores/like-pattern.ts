import { ANYTHING } from "../inbox/stored-events.js";

/**
 * The pattern of SQL's LIKE for a part of an error, in which `…` stands for anything. Its escape
 * character is `\`.
 */
export function likePattern(error: string): string {
  return `%${error.replaceAll(/[\\%_]/g, String.raw`\$&`).replaceAll(ANYTHING, "%")}%`;
}
