import { relative } from "node:path";
import { shellQuote } from "../shell-quote.js";
import { inWordsOf, type PackageManager } from "./package-manager.js";
import type { ProjectTemplate } from "./templates.js";

export interface Made {
  template: Pick<ProjectTemplate, "needs" | "alongside">;
  /** Absolute. */
  directory: string;
  packageManager: PackageManager;
  isInstalled: boolean;
}

export interface NextSteps {
  /** One line each, as they are typed. */
  commands: readonly string[];
  /** What has to run first, and a way to start it; `null` for nothing. */
  needs: { what: string; command: string } | null;
  /** While the receiver runs, from the same folder: each goes on, in a terminal of its own. */
  alongside: readonly string[];
  /** The same, to its end. */
  inSecondTerminal: string;
}

export function nextSteps({ template, directory, packageManager, isInstalled }: Made): NextSteps {
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
    needs: template.needs ?? null,
    alongside: (template.alongside ?? []).map(say),
    inSecondTerminal: say("npm run replay"),
  };
}
