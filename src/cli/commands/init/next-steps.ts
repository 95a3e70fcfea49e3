import { cdCommand } from "./cd-command.js";
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
  const cd = cdCommand(directory);
  const say = (command: string): string => inWordsOf(packageManager, command);
  return {
    commands: [
      ...(cd === null ? [] : [cd]),
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
