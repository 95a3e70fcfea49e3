import { isSignalboxError } from "../../errors.js";
import { usageError } from "./exit.js";

const REFUSED = /^The option "(\w+)" of \w+ is invalid: (.*?)\.( The README lists every option\.)?$/;

/**
 * The refusal of an option of ours, of what was typed instead; any other error as it is.
 *
 * @param flags what was typed for an option
 */
export function inWordsOfFlags(error: unknown, flags: Readonly<Record<string, string>>): unknown {
  if (!isSignalboxError(error)) return error;
  const [, name = "", problem = ""] = REFUSED.exec(error.message) ?? [];
  return Object.hasOwn(flags, name) ? usageError(`${flags[name]}: ${problem}`) : error;
}
