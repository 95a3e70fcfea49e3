import type { Cli } from "../../console/cli.js";
import { EXIT, type ExitCode } from "../../options/exit.js";
import { shellQuote } from "../../console/shell-quote.js";
import type { Choices } from "./choose.js";
import type { PackageManager } from "./package-manager.js";
import { givenSignalbox, runningSignalbox } from "./signalbox-spec.js";
import { writeFiles } from "./write-files.js";

export interface AddToAppOptions {
  into?: string;
  packageManager?: PackageManager;
  signalbox?: string;
  json?: true;
}

/** Writes the files of the add-on, and prints what the user does by hand. */
export async function addToApp(
  { template, directory, replace }: Choices,
  { into, packageManager, signalbox, json }: AddToAppOptions,
  { terminal }: Cli,
): Promise<ExitCode> {
  // Imported here: other commands start faster without it.
  const { planAddOn } = await import("./add-on/plan-add-on.js");
  const install = whatToInstall(signalbox, directory);
  const plan = planAddOn(directory, { into, force: replace, packageManager, signalbox: install });
  const replaced = writeFiles(directory, plan.files, { replace });
  const files = plan.files.map(({ path }) => path);
  if (json) terminal.printJson({ template: template.name, directory, ...plan, files, replaced });
  else {
    terminal.note(terminal.notePaint.dim(`wrote ${files.join(", ")}`));
    for (const line of plan.nextSteps) terminal.print(line);
  }
  return EXIT.ok;
}

/** For the command line of a package manager. A signalbox that was installed from a file may be in no registry. */
function whatToInstall(given: string | undefined, directory: string): string {
  const spec = given === undefined ? runningSignalbox(directory) : givenSignalbox(given, directory);
  if (spec.startsWith("file:")) return shellQuote(spec);
  return given === undefined ? "signalbox" : shellQuote(`signalbox@${spec}`);
}
