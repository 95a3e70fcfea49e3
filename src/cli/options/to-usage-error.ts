import { OptionError } from "../../options/option-error.js";
import { usageError } from "./exit.js";

/**
 * The refusal of an option of the library, as one of what the user typed. Any other error stays as it is.
 *
 * @param typed for each option of the library, what the user types for it: `{ seed: "--seed" }`
 */
export function toUsageError(error: unknown, typed: Readonly<Record<string, string>>): unknown {
  if (!(error instanceof OptionError) || !Object.hasOwn(typed, error.option)) return error;
  return usageError(`${typed[error.option]}: ${error.problem}`);
}
