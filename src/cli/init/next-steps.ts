import { relative } from "node:path";
import { shellQuote } from "../shell-quote.js";
import { inWordsOf, type PackageManager } from "./package-manager.js";

export interface Made {
  /** Absolute. */
  directory: string;
  packageManager: PackageManager;
  isInstalled: boolean;
}

export interface NextSteps {
  /** One line each, as they are typed. */
  commands: readonly string[];
  /** While the receiver runs, from the same folder. */
  inSecondTerminal: string;
}

export function nextSteps({ directory, packageManager, isInstalled }: Made): NextSteps {
  const path = relative(process.cwd(), directory);
  const say = (command: string): string => inWordsOf(packageManager, command);
  return {
    commands: [
      // A folder that begins with a dash would be an option.
      ...(path === "" ? [] : [`cd ${path.startsWith("-") ? "./" : ""}${shellQuote(path)}`]),
      ...(isInstalled ? [] : [say("npm install")]),
      say("npm test"),
      // Yarn 2 and later run no `prestart`.
      ...(packageManager === "yarn" ? [say("npm run build")] : []),
      say("npm start"),
    ],
    inSecondTerminal: say("npm run replay"),
  };
}
