import { relative } from "node:path";
import { shellQuote } from "../../console/shell-quote.js";

/** Goes to a folder from the one in which this runs, to be typed; `null` where that is the same. */
export function cdCommand(directory: string): string | null {
  const path = relative(process.cwd(), directory);
  if (path === "") return null;
  // A folder that begins with a dash would be an option.
  return `cd ${path.startsWith("-") ? "./" : ""}${shellQuote(path)}`;
}
